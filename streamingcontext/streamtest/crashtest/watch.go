package crashtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
)

// An account is what the kit knows of an output.
type account struct {
	promise sink.Promise
	parts   map[uint64][]string // rows of finished attempts
	sealed  map[sealing][]string
	first   map[int64][]string // rows of the first try that was sealed, by batch id
	done    map[int64][32]byte // digest of what was committed, by batch id
	rows    map[int64][]string // committed, by batch time
	last    int64              // id of the last batch committed
	shown   func() ([]string, error)
}

// A sealing is what Seal returned for a batch.
type sealing struct {
	batch  int64
	digest [32]byte
}

// Save declares an output that writes to a sink in the world, as dstream.SaveTo does. Its points are those of Watch.
func Save[T any](s *dstream.DStream[T], w *World, name string) *dstream.Output {
	m := Keep(w, "sink "+name, newMemory[T])
	return dstream.SaveTo(s, name, Watch(w, name, sink.Sink[T](m), m.shown))
}

// Watch returns a sink that writes to another, whose calls are points: "sink begin", "finish", "seal", "commit", "clean" and "last", and the
// name. The name is that of the output. shown reads all rows that the sink shows, as a reader would who knows nothing of this one: it is
// asked after the last process has ended. If it is nil the kit only knows what the sink has answered.
//
// The rows are compared with those of the undisturbed run, without regard to their order, by what fmt makes of them with %#v.
func Watch[T any](w *World, name string, to sink.Sink[T], shown func() ([]T, error)) sink.Sink[T] {
	for _, call := range [...]string{"begin", "finish", "seal", "commit", "clean"} {
		w.expect("sink " + call + " " + name)
	}
	p := w.current()
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.outputs[name]
	if a == nil {
		a = &account{parts: map[uint64][]string{}, sealed: map[sealing][]string{}, first: map[int64][]string{}, done: map[int64][32]byte{},
			rows: map[int64][]string{}, last: -1}
		w.outputs[name], w.names = a, append(w.names, name)
	}
	if promiser, ok := to.(sink.Promiser); ok {
		a.promise = promiser.Promise()
	}
	a.shown = nil
	if shown != nil {
		a.shown = func() ([]string, error) {
			rows, err := shown()
			return printed(rows), err
		}
	}
	return &watched[T]{p: p, name: name, to: to, account: a}
}

// printed returns rows as text.
func printed[T any](rows []T) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = fmt.Sprintf("%#v", row)
	}
	return out
}

// watched is a sink that a process writes to.
type watched[T any] struct {
	p       *process
	name    string
	to      sink.Sink[T]
	account *account // guarded by the world
}

func (s *watched[T]) Promise() sink.Promise { return s.account.promise }

func (s *watched[T]) step(call string, effect func() error) error {
	return s.p.step("sink "+call+" "+s.name, effect)
}

func (s *watched[T]) Begin(ctx context.Context, b sink.Batch, parts int) error {
	return s.step("begin", func() error { return s.to.Begin(ctx, b, parts) })
}

func (s *watched[T]) Part(ctx context.Context, b sink.Batch, part int, attempt string) (sink.Writer[T], error) {
	to, err := s.to.Part(ctx, b, part, attempt)
	if err != nil {
		return nil, err
	}
	return &watchedWriter[T]{sink: s, to: to}, nil
}

func (s *watched[T]) Seal(ctx context.Context, b sink.Batch, notes [][]byte) (staged []byte, err error) {
	own := make([][]byte, len(notes))
	var rows []string
	w := s.p.w
	w.mu.Lock()
	for i, note := range notes {
		id, n := binary.Uvarint(note)
		if n <= 0 {
			w.mu.Unlock()
			return nil, fmt.Errorf("crashtest: %v, partition %d: the note is not what Finish returned", b, i)
		}
		rows = append(rows, s.account.parts[id]...)
		if own[i] = note[n:]; len(own[i]) == 0 {
			own[i] = nil
		}
	}
	w.mu.Unlock()
	err = s.step("seal", func() error {
		if staged, err = s.to.Seal(ctx, b, own); err == nil {
			w.sealed(s.name, s.account, b, sealing{b.ID, sha256.Sum256(staged)}, rows)
		}
		return err
	})
	return staged, err
}

// sealed takes note of the rows of a try.
func (w *World) sealed(name string, a *account, b sink.Batch, key sealing, rows []string) {
	slices.Sort(rows)
	w.mu.Lock()
	defer w.mu.Unlock()
	a.sealed[key] = rows
	if first, ok := a.first[b.ID]; !ok {
		a.first[b.ID] = rows
	} else if diff := difference(rows, first); diff != "" {
		w.breachHeld(RowsEqual, "output %s: batch at %d ms run again gives other rows: %s", name, b.Time, diff)
	}
}

func (s *watched[T]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	staged = bytes.Clone(staged)
	return s.step("commit", func() error {
		err := s.to.Commit(ctx, b, staged)
		if _, conflict := errors.AsType[*sink.ConflictError](err); conflict {
			s.p.w.breach(CommittedOnce, "output %s: batch at %d ms is committed with other rows", s.name, b.Time)
		}
		if err == nil {
			s.p.w.committed(s.name, s.account, b, sealing{b.ID, sha256.Sum256(staged)})
		}
		return err
	})
}

// committed takes note of a batch that the sink says is committed.
func (w *World) committed(name string, a *account, b sink.Batch, key sealing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, again := a.done[b.ID]
	rows, known := a.sealed[key]
	switch {
	case again && before != key.digest:
		w.breachHeld(CommittedOnce, "output %s: batch at %d ms is committed with other rows", name, b.Time)
		return
	case again:
		return
	case !known:
		w.breachHeld(CommittedOnce, "output %s: what is committed of the batch at %d ms was not sealed", name, b.Time)
	case b.ID < a.last:
		w.breachHeld(NoneSkipped, "output %s: the batch at %d ms is committed after a later one", name, b.Time)
	}
	a.done[b.ID], a.rows[b.Time], a.last = key.digest, rows, max(a.last, b.ID)
}

func (s *watched[T]) Clean(ctx context.Context, b sink.Batch) error {
	return s.step("clean", func() error { return s.to.Clean(ctx, b) })
}

func (s *watched[T]) Last(ctx context.Context, app, output string) (m sink.Mark, err error) {
	failed := s.step("last", func() error {
		m, err = s.to.Last(ctx, app, output)
		return err
	})
	return m, failed
}

// watchedWriter is the writer of one attempt.
type watchedWriter[T any] struct {
	sink *watched[T]
	to   sink.Writer[T]
	rows []string
}

func (w *watchedWriter[T]) Write(rows []T) error {
	w.rows = append(w.rows, printed(rows)...)
	return w.to.Write(rows)
}

func (w *watchedWriter[T]) Finish(ctx context.Context) (note []byte, err error) {
	err = w.sink.step("finish", func() error {
		own, err := w.to.Finish(ctx)
		if err == nil {
			note = append(w.sink.p.w.finished(w.sink.account, w.rows), own...)
		}
		return err
	})
	return note, err
}

// finished keeps the rows of an attempt and returns how it is called.
func (w *World) finished(a *account, rows []string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := uint64(len(a.parts))
	a.parts[id] = rows
	return binary.AppendUvarint(nil, id)
}

func (w *watchedWriter[T]) Abort(ctx context.Context) error {
	return w.sink.step("abort", func() error { return w.to.Abort(ctx) })
}
