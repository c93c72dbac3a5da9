package executor

import (
	"errors"
	"runtime"
	"testing"

	"github.com/leat-io/leat/lineage"
)

// exitCodec ends the goroutine that encodes.
type exitCodec struct{}

func (exitCodec) Encode(lineage.Block) ([]byte, error) { runtime.Goexit(); return nil, nil }
func (exitCodec) Decode([]byte) (lineage.Block, error) { return nil, nil }
func (exitCodec) Size(lineage.Block) int64             { return 8 }

// TestAnEncoderThatEndsItsGoroutineIsEvicted has a task find no room because another's rows cannot be written, and goes on.
func TestAnEncoderThatEndsItsGoroutineIsEvicted(t *testing.T) {
	p := newPool(10)
	s := newStore(p, newDisk(func() (string, error) { return t.TempDir(), nil }, nil))
	p.evict = func(need int64, owner *lineage.ShuffleID, all bool, m *lineage.Metrics) int64 {
		freed, _ := s.evict(need, owner, all, m)
		return freed
	}
	id := lineage.ShuffleID{Node: lineage.NodeID{Ordinal: 1}}
	st := &stored{owner: id, codec: exitCodec{}, held: [][]Held{{hold(exitCodec{}, "x")}}, size: 8}
	if !p.keep(8, &id, true, nil) {
		t.Fatal("no room")
	}
	s.putOutput(st)
	done := make(chan bool, 1)
	go func() {
		fits := true
		defer func() { done <- fits }()
		fits = p.keep(8, owner(2), true, nil)
	}()
	if fits := <-done; fits {
		t.Error("an output that cannot be written was pushed out")
	}
	if _, stored := p.sums(); stored != 8 {
		t.Errorf("%d bytes are stored, want 8", stored)
	}
	if _, err := s.write(st, st.held); !errors.Is(err, errGoexit) {
		t.Errorf("error %v", err)
	}
}
