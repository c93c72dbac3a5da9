package rdd

import (
	"runtime"
	"testing"
)

// What stands above a dealing shuffle is found like what stands above any other dependency.
func TestNodesAboveARepartitionAreFound(t *testing.T) {
	w := newWatched(newInlineRunner(false))
	c := w.context(t, Options{CheckpointDir: t.TempDir()})
	r := Parallelize(c, upTo(4), 2).Cache()
	if err := r.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	must(r.Repartition(3).Count(t.Context()))
	if !r.IsCheckpointed() {
		t.Error("the mark above a shuffle is not seen")
	}
	other := Parallelize(c, upTo(4), 2)
	must(other.Repartition(3).Count(t.Context()))
	wantErr(t, "evaluated below a shuffle", other.Checkpoint(), ErrCheckpointTooLate)
	elsewhere, _ := inlineContext(t, Options{})
	_, err := Parallelize(elsewhere, upTo(1), 1).In(c).Repartition(2).Count(t.Context())
	wantErr(t, "of another context", err, ErrDifferentContexts)
	runtime.KeepAlive(r)
}
