package lineage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
)

// describe writes a stage as "id op <- parents: nodes".
func describe(stages []*lineage.Stage) []string {
	var out []string
	for _, s := range stages {
		var parents, nodes []string
		for _, p := range s.Parents {
			parents = append(parents, fmt.Sprint(p.ID))
		}
		for _, n := range s.Nodes {
			nodes = append(nodes, n.ID().String())
		}
		kind := "result"
		if s.Shuffle != nil {
			kind = "shuffle " + s.Shuffle.ID.String()
		}
		out = append(out, fmt.Sprintf("%d %s <- [%s]: %s", s.ID, kind, strings.Join(parents, " "), strings.Join(nodes, " ")))
	}
	return out
}

func TestCut(t *testing.T) {
	tests := []struct {
		name  string
		build func(g *graph) *testNode
		want  []string
	}{
		{"one_stage_without_shuffles", func(g *graph) *testNode { return g.narrow("map", g.source(2)) }, []string{
			"0 result <- []: 1 0",
		}},
		{"two_stages_for_a_shuffle", wordCount, []string{
			"0 shuffle 2 <- []: 1 0",
			"1 result <- [0]: 2",
		}},
		{"parents_before_children", func(g *graph) *testNode {
			return g.shuffle("sortByKey", 1, g.narrow("map", wordCount(g)))
		}, []string{
			"0 shuffle 2 <- []: 1 0",
			"1 shuffle 4 <- [0]: 3 2",
			"2 result <- [1]: 4",
		}},
		{"a_join_has_two_parents_in_order", func(g *graph) *testNode {
			return g.shuffle("join", 2, g.source(1), wordCount(g))
		}, []string{
			"0 shuffle 4 <- []: 0",
			"1 shuffle 3 <- []: 2 1",
			"2 shuffle 4#1 <- [1]: 3",
			"3 result <- [0 2]: 4",
		}},
		{"a_narrow_diamond_is_one_stage", func(g *graph) *testNode {
			s := g.source(1)
			return g.narrow("zip", g.narrow("a", s), g.narrow("b", s))
		}, []string{
			"0 result <- []: 3 1 0 2",
		}},
		{"a_shuffle_read_twice_in_a_stage_is_one_stage", func(g *graph) *testNode {
			w := wordCount(g)
			return g.narrow("zip", g.narrow("a", w), g.narrow("b", w))
		}, []string{
			"0 shuffle 2 <- []: 1 0",
			"1 result <- [0]: 5 3 2 4",
		}},
		{"a_shuffle_read_by_two_stages_is_one_stage", func(g *graph) *testNode {
			w := wordCount(g)
			return g.shuffle("join", 2, g.narrow("a", w), g.narrow("b", w))
		}, []string{
			"0 shuffle 2 <- []: 1 0",
			"1 shuffle 5 <- [0]: 3 2",
			"2 shuffle 5#1 <- [0]: 4 2",
			"3 result <- [1 2]: 5",
		}},
		{"a_node_shuffled_by_two_is_computed_by_two_stages", func(g *graph) *testNode {
			s := g.source(1)
			return g.narrow("zip", g.shuffle("x", 2, s), g.shuffle("y", 2, s))
		}, []string{
			"0 shuffle 1 <- []: 0",
			"1 shuffle 2 <- []: 0",
			"2 result <- [0 1]: 3 1 2",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			final := tt.build(&graph{})
			stages := lineage.Cut(final)
			if diff := cmp.Diff(tt.want, describe(stages)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, s := range stages {
				if s.Nodes[0].ID() != s.Final.ID() {
					t.Errorf("stage %d lists %s first, ends at %s", s.ID, s.Nodes[0].ID(), s.Final.ID())
				}
				if s.Shuffle != nil && s.Final != s.Shuffle.Parent {
					t.Errorf("stage %d ends at %s, its shuffle's parent is %s", s.ID, s.Final.ID(), s.Shuffle.Parent.ID())
				}
			}
			if last := stages[len(stages)-1]; last.Final != lineage.Node(final) || last.Shuffle != nil {
				t.Errorf("the last stage ends at %s, want the result stage of %s", last.Final.ID(), final.ID())
			}
		})
	}
}

// TestNested has 2^30 paths from end to end, so a walk that forgets where it has been never
// finishes.
func TestNested(t *testing.T) {
	zip := func(g *graph, n *testNode) *testNode { return g.narrow("zip", n, n) }
	join := func(g *graph, n *testNode) *testNode { return g.shuffle("join", 2, n, n) }
	for _, tt := range []struct {
		name   string
		nest   func(*graph, *testNode) *testNode
		depth  int
		stages int
	}{
		{"30_self_zips_plan_in_well_under_a_second/L6", zip, 30, 1},
		{"30_self_joins_plan_in_well_under_a_second/L6", join, 30, 61},
		{"a_chain_of_5000_nodes_is_planned_in_its_size/L6", func(g *graph, n *testNode) *testNode { return g.narrow("map", n) }, 5000, 1},
		{"a_chain_of_1000_shuffles/L6", func(g *graph, n *testNode) *testNode { return g.shuffle("reduceByKey", 2, n) }, 1000, 1001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var g graph
			n := g.source(2)
			for range tt.depth {
				n = tt.nest(&g, n)
			}
			start := time.Now()
			if got := len(lineage.Cut(n)); got != tt.stages {
				t.Errorf("%d stages, want %d", got, tt.stages)
			}
			nodes := 0
			lineage.Walk(n, func(lineage.Node) bool { nodes++; return true })
			if nodes != tt.depth+1 {
				t.Errorf("visited %d nodes, want %d", nodes, tt.depth+1)
			}
			if lines := strings.Count(lineage.Text(n), "\n"); lines < nodes || lines > 2*nodes {
				t.Errorf("Text has %d lines for %d nodes", lines, nodes)
			}
			lineage.DOT(n)
			lineage.Fingerprint(n)
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
