package lineage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
)

func shuffleNames(shuffles []*lineage.Shuffle) []string {
	var names []string
	for _, s := range shuffles {
		names = append(names, s.ID.String())
	}
	return names
}

func TestWalk(t *testing.T) {
	var g graph
	source := g.source(2)                                       // 0
	left, right := g.narrow("a", source), g.narrow("b", source) // 1, 2
	top := g.shuffle("join", 3, left, right)                    // 3
	walk := func(above func(n lineage.Node) bool) []int32 {
		var got []int32
		lineage.Walk(top, func(n lineage.Node) bool {
			got = append(got, n.ID().Ordinal)
			return above(n)
		})
		return got
	}
	t.Run("each_node_once_depth_first", func(t *testing.T) {
		got := walk(func(lineage.Node) bool { return true })
		if diff := cmp.Diff([]int32{3, 1, 0, 2}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("not_above_a_node_that_is_declined", func(t *testing.T) {
		got := walk(func(n lineage.Node) bool { return n.Op() != "a" })
		if diff := cmp.Diff([]int32{3, 1, 2, 0}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a_cycle_made_by_accident_ends/L6", func(t *testing.T) {
		var g graph
		a := g.source(1)
		b := g.narrow("b", a)
		a.deps = []lineage.Dep{lineage.OneToOne(b)}
		n := 0
		lineage.Walk(b, func(lineage.Node) bool { n++; return true })
		if n != 2 {
			t.Errorf("visited %d nodes, want 2", n)
		}
	})
}

func TestShuffleParents(t *testing.T) {
	tests := []struct {
		name  string
		build func(g *graph) *testNode
		kept  string // op whose node has all partitions held
		want  []string
	}{
		{"source_has_none", func(g *graph) *testNode { return g.source(1) }, "", nil},
		{"narrow_chain_has_none", func(g *graph) *testNode { return g.narrow("map", g.source(1)) }, "", nil},
		{"node_that_shuffles", wordCount, "", []string{"2"}},
		{"found_through_narrow_nodes", func(g *graph) *testNode { return g.narrow("map", wordCount(g)) }, "", []string{"2"}},
		{"not_beyond_the_nearest", func(g *graph) *testNode { return g.shuffle("sortByKey", 2, wordCount(g)) }, "", []string{"3"}},
		{"both_sides_in_order", func(g *graph) *testNode { return g.shuffle("join", 2, g.source(1), g.source(1)) }, "", []string{"2", "2#1"}},
		{"one_met_twice_is_listed_once", func(g *graph) *testNode {
			w := wordCount(g)
			return g.narrow("zip", g.narrow("keys", w), g.narrow("values", w))
		}, "", []string{"2"}},
		{"one_read_by_two_nodes_is_listed_once", func(g *graph) *testNode {
			w := wordCount(g)
			reader := g.node("coalesce", 2)
			reader.deps = w.deps
			return g.narrow("zip", w, reader)
		}, "", []string{"2"}},
		{"one_without_reducers_is_not_listed/G7", func(g *graph) *testNode {
			return g.narrow("union", g.shuffle("join", 0, g.source(1), wordCount(g)), wordCount(g))
		}, "", []string{"7"}},
		{"depth_first_order", func(g *graph) *testNode {
			a, b := wordCount(g), wordCount(g)
			return g.narrow("union", g.narrow("map", b), a)
		}, "", []string{"5", "2"}},
		{"same_parent_shuffled_by_two_nodes", func(g *graph) *testNode {
			s := g.source(1)
			return g.narrow("zip", g.shuffle("x", 2, s), g.shuffle("y", 2, s))
		}, "", []string{"1", "2"}},
		{"not_above_a_kept_node/L5", func(g *graph) *testNode {
			return g.narrow("zip", g.narrow("cached", wordCount(g)), wordCount(g))
		}, "cached", []string{"6"}},
		{"kept_node_itself/L5", func(g *graph) *testNode { return g.narrow("cached", wordCount(g)) }, "cached", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var kept func(lineage.Node) bool
			if tt.kept != "" {
				kept = func(n lineage.Node) bool { return n.Op() == tt.kept }
			}
			got := shuffleNames(lineage.ShuffleParents(tt.build(&graph{}), kept))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	odd := func(p int) bool { return p%2 == 1 }
	tests := []struct {
		name string
		n    int
		have func(int) bool
		want []int
	}{
		{"no_partitions", 0, odd, nil},
		{"all_there", 3, func(int) bool { return true }, nil},
		{"none_there", 3, func(int) bool { return false }, []int{0, 1, 2}},
		{"some_there_ascending", 5, odd, []int{0, 2, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lineage.Missing(tt.n, tt.have)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
