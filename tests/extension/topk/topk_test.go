package topk_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
	"github.com/leat-io/leat/tests/extension/topk"
)

func TestLargestOfEachBatch(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		for _, isolate := range []bool{false, true} {
			t.Run(fmt.Sprintf("parts=%d isolate=%t", parts, isolate), func(t *testing.T) {
				kit := streamtest.New(t, streamtest.Options{Partitions: parts, Engine: streamingcontext.EngineOptions{Isolate: isolate}})
				in := streamtest.Input[string](kit)
				byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
				out := streamtest.Collect(kit, topk.By(in.Stream(), 2, byLength))
				in.Push("aaa", "b", "cc", "dd")
				kit.Advance(2)
				in.Push("e")
				kit.Advance(1)
				want := [][]string{{"aaa", "cc"}, nil, {"e"}}
				got := out.Batches()
				for i := range got {
					if len(got[i]) == 0 {
						got[i] = nil
					}
				}
				if diff := gocmp.Diff(got, want); diff != "" {
					t.Errorf("batches (-got +want):\n%s", diff)
				}
			})
		}
	}
}

// The operator has its own name, and errors name the line that called it, not the folder's.
func TestErrorsNameTheOperatorAndItsCall(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	streamtest.Collect(kit, topk.By(streamtest.Input[int](kit).Stream(), 0, cmp.Compare[int]))
	err := kit.TryAdvance(1)
	g, ok := errors.AsType[*dstream.GenerationError](err)
	if !ok || !errors.Is(err, dstream.ErrArgument) || g.Op != "topK" || !strings.HasPrefix(g.Site, "topk_test.go:") {
		t.Errorf("advance: %v", err)
	}
	other := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](other)
	in.Push(1, 2)
	streamtest.Collect(other, topk.By(in.Stream(), 1, func(int, int) int { panic("no") }))
	if err := other.TryAdvance(1); err == nil || !strings.Contains(err.Error(), "panic: no") || !strings.Contains(err.Error(), "topk_test.go:") {
		t.Errorf("advance: %v", err)
	}
	refused := streamtest.New(t, streamtest.Options{})
	streamtest.Collect(refused, topk.By[int](streamtest.Input[int](refused).Stream(), 1, nil))
	err = refused.TryAdvance(1)
	b, ok := errors.AsType[*dstream.BuildError](err)
	if !ok || !errors.Is(err, dstream.ErrNilFunction) || b.Op != "topK" || !strings.HasPrefix(b.Site, "topk_test.go:") {
		t.Errorf("start: %v", err)
	}
}
