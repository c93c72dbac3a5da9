package rdd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// withValue returns each record with its place in a broadcast table.
func withValue(r *RDD[int], b *Broadcast[[]string]) *RDD[string] {
	return MapWith(r, func(ctx context.Context, _ int) (func(int) string, error) {
		table, err := b.Value(ctx)
		return func(x int) string { return table[x] }, err
	})
}

func TestBroadcast_B1_B3_C40(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := Parallelize(c, []int{0, 1, 0}, 3)
		table := []string{"zero", "one"}
		b, err := NewBroadcast(c, table)
		if err != nil {
			t.Fatal(err)
		}
		table[0] = "changed"
		want := []string{"zero", "one", "zero"}
		same(t, "C40 B1 in tasks", collect(t, withValue(r, b)), want)
		own := must(b.Value(t.Context()))
		same(t, "own copy", own, []string{"zero", "one"})
		own[1] = "mine"
		same(t, "tasks do not share the own copy", collect(t, withValue(r, b)), want)
		b.Unpersist()
		same(t, "B3 after Unpersist", collect(t, withValue(r, b)), want)
		same(t, "own copy after Unpersist", must(b.Value(t.Context())), []string{"zero", "one"})
		b.Destroy()
		b.Destroy()
		_, err = b.Value(t.Context())
		wantErr(t, "B3 after Destroy", err, ErrDestroyed)
		_, err = withValue(r, b).Collect(t.Context())
		wantErr(t, "B3 in a task after Destroy", err, ErrDestroyed)
		next := must(NewBroadcast(c, []string{"a", "b"}))
		if next.spec.ID <= b.spec.ID {
			t.Errorf("id %d after %d", next.spec.ID, b.spec.ID)
		}
		same(t, "another one", collect(t, withValue(r, next)), []string{"a", "b", "a"})
	})
}

func TestBroadcastIsRefused(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	r := Parallelize(c, []int{0}, 1)
	_, err := NewBroadcast(c, r)
	wantErr(t, "B1 an RDD", err, ErrArgument)
	_, err = NewBroadcast(c, []*RDD[int]{r})
	var typ *codec.TypeError
	if !errors.As(err, &typ) {
		t.Errorf("RDDs inside: %v", err)
	}
	b := must(NewBroadcast(c, []string{"x"}))
	other, _ := inlineContext(t, Options{})
	_, err = withValue(Parallelize(other, []int{0}, 1), b).Collect(t.Context())
	wantErr(t, "in another context's job", err, ErrDifferentContexts)
	c.Stop()
	_, err = NewBroadcast(c, 1)
	wantErr(t, "after Stop", err, ErrStopped)
}

func TestBroadcastPiecesAreChecked_B2(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	text := strings.Repeat("0123456789abcdef", pieceSize/16) + "tail"
	b := must(NewBroadcast(c, text))
	if n := len(b.pieces.sums); n != 2 {
		t.Fatalf("%d pieces, want 2", n)
	}
	if got := must(b.Value(t.Context())); got != text {
		t.Error("the value differs")
	}
	b.Unpersist()
	b.pieces.data[len(b.pieces.data)-1] ^= 1
	_, err := b.Value(t.Context())
	wantErr(t, "damaged", err, codec.ErrCorrupt)
	var corrupt *codec.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Offset != pieceSize {
		t.Errorf("%v does not name the second piece", err)
	}
}
