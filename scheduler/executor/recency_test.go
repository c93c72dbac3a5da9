package executor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRecency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := make([]*stored, 6)
		for i := range all {
			all[i] = &stored{part: i}
		}
		var list recency
		var want []*stored
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			st := rapid.SampledFrom(all).Draw(t, "stored")
			want = slices.DeleteFunc(want, func(o *stored) bool { return o == st })
			if rapid.Bool().Draw(t, "use") {
				list.use(st)
				want = append(want, st)
			} else {
				list.remove(st)
			}
			var got, back []*stored
			for st := list.oldest; st != nil; st = st.newer {
				got = append(got, st)
			}
			for st := list.newest; st != nil; st = st.older {
				back = append([]*stored{st}, back...)
			}
			if !slices.Equal(got, want) || !slices.Equal(back, want) {
				t.Fatalf("the list has %d, backwards %d, want %d", len(got), len(back), len(want))
			}
		}
	})
}
