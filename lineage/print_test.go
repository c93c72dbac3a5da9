package lineage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
)

func TestText(t *testing.T) {
	tests := []struct {
		name  string
		build func(g *graph) *testNode
		want  string
	}{
		{"narrow_parents_stand_in_one_column", func(g *graph) *testNode {
			return g.narrow("filter", g.narrow("map", g.source(4)))
		}, `
(4) filter[2] main.go:3
 |  map[1] main.go:2
 |  textFile[0] main.go:1
`},
		{"a_shuffle_starts_a_branch", func(g *graph) *testNode {
			return g.narrow("map", g.shuffle("sortByKey", 1, g.narrow("keys", wordCount(g))))
		}, `
(1) map[5] main.go:6
 |  sortByKey[4] main.go:5
 +-(2) keys[3] main.go:4
    |  reduceByKey[2] main.go:3
    +-(4) flatMap[1] main.go:2
       |  textFile[0] main.go:1
`},
		{"each_of_several_parents_starts_a_branch", func(g *graph) *testNode {
			return g.narrow("union", wordCount(g), g.narrow("map", g.source(3)), g.source(1))
		}, `
(2) union[6] main.go:7
 +- reduceByKey[2] main.go:3
 |  +-(4) flatMap[1] main.go:2
 |     |  textFile[0] main.go:1
 +- map[4] main.go:5
 |  |  textFile[3] main.go:4
 +- textFile[5] main.go:6
`},
		{"a_node_met_again_is_named_only", func(g *graph) *testNode {
			w := wordCount(g)
			return g.shuffle("join", 2, g.narrow("map", w), w)
		}, `
(2) join[4] main.go:5
 +-(2) map[3] main.go:4
 |  |  reduceByKey[2] main.go:3
 |  +-(4) flatMap[1] main.go:2
 |     |  textFile[0] main.go:1
 +-(2) reduceByKey[2] (above)
`},
		{"an_unknown_partition_count_is_a_question_mark", func(g *graph) *testNode {
			g.line = 0
			return g.source(-1)
		}, `
(?) textFile[0]
`},
		{"what_a_node_says_of_itself_stands_in_brackets", func(g *graph) *testNode {
			n := g.narrow("map", g.source(1))
			n.marks = []string{"MEMORY_ONLY", "checkpointed"}
			return n
		}, `
(1) map[1] main.go:2 [MEMORY_ONLY, checkpointed]
 |  textFile[0] main.go:1
`},
		{"ids_of_a_batch_are_whole", func(g *graph) *testNode {
			g.scope = lineage.Scope{Batch: 2000, Stream: 1}
			return g.narrow("map", g.source(1))
		}, `
(1) map[1@2000.1] main.go:2
 |  textFile[0@2000.1] main.go:1
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lineage.Text(tt.build(&graph{line: 1}))
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDOT(t *testing.T) {
	tests := []struct {
		name  string
		build func(g *graph) *testNode
		want  string
	}{
		{"a_box_for_each_stage", wordCount, `
digraph lineage {
	node [shape=box];
	subgraph cluster_0 {
		label="stage 0";
		"1" [label="flatMap[1]\n4 partitions"];
		"0" [label="textFile[0]\n4 partitions"];
	}
	subgraph cluster_1 {
		label="stage 1";
		"2" [label="reduceByKey[2]\n2 partitions"];
	}
	"1" -> "2" [style=dashed];
	"0" -> "1";
}
`},
		{"a_node_of_two_stages_is_drawn_once", func(g *graph) *testNode {
			s := g.source(1)
			return g.shuffle("join", 1, s, s)
		}, `
digraph lineage {
	node [shape=box];
	subgraph cluster_0 {
		label="stage 0";
		"0" [label="textFile[0]\n1 partition"];
	}
	subgraph cluster_2 {
		label="stage 2";
		"1" [label="join[1]\n1 partition"];
	}
	"0" -> "1" [style=dashed];
	"0" -> "1" [style=dashed];
}
`},
		{"what_a_node_says_of_itself_fills_it", func(g *graph) *testNode {
			n := g.source(2)
			n.marks = []string{"MEMORY_ONLY"}
			return n
		}, `
digraph lineage {
	node [shape=box];
	subgraph cluster_0 {
		label="stage 0";
		"0" [label="textFile[0]\n2 partitions\nMEMORY_ONLY" style=filled];
	}
}
`},
		{"an_unknown_partition_count_is_a_question_mark", func(g *graph) *testNode { return g.source(-1) }, `
digraph lineage {
	node [shape=box];
	subgraph cluster_0 {
		label="stage 0";
		"0" [label="textFile[0]\n? partitions"];
	}
}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lineage.DOT(tt.build(&graph{}))
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
