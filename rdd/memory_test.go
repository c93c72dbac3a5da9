package rdd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// inlineMemory is the memory of an inline runner's tasks, and their scratch files.
type inlineMemory struct {
	floor  int64                         // what operators hold without asking
	refuse func(held, more int64) bool   // nil: nothing is refused
	damage func(write int, frame []byte) // what happens to a frame on its way to a file
	full   int                           // writes until files take no more; 0: never

	held, refused        int64
	opened, open, writes int
	spilled              int64 // rows, as tasks counted them
	released             bool  // more was given back than there was
}

func (e *inlineEnv) budgetFloor() int64 {
	if m := e.runner.Memory; m != nil {
		return m.floor
	}
	return budgetFloor
}

func (e *inlineEnv) Reserve(_ context.Context, n int64) bool {
	m := e.runner.Memory
	if m == nil {
		return true
	}
	if m.refuse != nil && m.refuse(m.held, n) {
		m.refused++
		return false
	}
	m.held += n
	return true
}

func (e *inlineEnv) Release(n int64) {
	if m := e.runner.Memory; m != nil {
		m.held -= n
		m.released = m.released || m.held < 0
	}
}

func (e *inlineEnv) Scratch() (lineage.Scratch, error) {
	m := e.runner.Memory
	if m == nil {
		return nil, errors.New("the inline runner refuses no memory")
	}
	m.opened++
	m.open++
	return &inlineScratch{memory: m, env: e}, nil
}

// inlineScratch is a scratch file in memory.
type inlineScratch struct {
	memory *inlineMemory
	env    *inlineEnv
	data   []byte
	closed bool
}

func (s *inlineScratch) Write(p []byte) (int, error) {
	m := s.memory
	m.writes++
	if m.full > 0 && m.writes > m.full {
		return 0, errFull
	}
	at := len(s.data)
	s.data = append(s.data, p...)
	if m.damage != nil {
		m.damage(m.writes, s.data[at:])
	}
	return len(p), nil
}

var errFull = errors.New("no space left")

func (s *inlineScratch) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(p, s.data[off:])
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

func (s *inlineScratch) Close() error {
	if !s.closed {
		s.closed = true
		s.memory.open--
		s.memory.spilled += s.env.metrics.SpilledRows
		s.env.metrics.SpilledRows = 0
		s.data = nil
	}
	return nil
}

// settled fails the test if a task has left something behind.
func (m *inlineMemory) settled(t testing.TB) {
	t.Helper()
	if m.open != 0 {
		t.Errorf("%d scratch files are open", m.open)
	}
	if m.held != 0 || m.released {
		t.Errorf("%d bytes are reserved at the end, too much was released: %t", m.held, m.released)
	}
}

func always(int64, int64) bool { return true }

func TestBudget(t *testing.T) {
	m := &inlineMemory{floor: 1000, refuse: func(held, more int64) bool { return held+more > 1<<20 }}
	r := newInlineRunner(false)
	r.Memory = m
	b := newBudget(newTask(t.Context(), &inlineEnv{runner: r}))
	for _, x := range []struct {
		bytes int64
		want  bool
		held  int64
	}{
		{1000, true, 0},
		{1001, true, budgetStep},
		{budgetStep, true, budgetStep},
		{budgetStep + 1, true, 2 * budgetStep},
		{1 << 20, true, 1 << 20},
		{1<<20 + 1, false, 1 << 20},
		{1 << 20, true, 1 << 20},
	} {
		if got := b.fits(x.bytes); got != x.want || m.held != x.held {
			t.Errorf("fits(%d): %t with %d reserved, want %t with %d", x.bytes, got, m.held, x.want, x.held)
		}
	}
	b.insist(1 << 22)
	if !b.fits(1<<22) || b.fits(1<<22+1) {
		t.Error("what was insisted on is held without asking, and no more")
	}
	b.release()
	b.release()
	m.settled(t)
}

func TestSampler(t *testing.T) {
	s := newSampler[string]()
	rows := make([]string, 10)
	for i := range rows {
		rows[i] = fmt.Sprintf("%0100d", i)
	}
	for range 100 {
		s.see(rows)
	}
	if s.sampled != 1000/sampleEvery+1 {
		t.Errorf("%d rows of 1000 were looked at", s.sampled)
	}
	if got := s.memory(1000, 1200); got != 1200*16+1000*100 {
		t.Errorf("memory %d", got)
	}
	if codec.SizeFunc[int]() != nil {
		t.Error("integers refer to something")
	}
}
