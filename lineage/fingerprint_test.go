package lineage_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/leat-io/leat/lineage"
)

func TestFingerprint(t *testing.T) {
	// program is a join of a word count with a mapped file, with holes to vary.
	program := func(g *graph, op string) *testNode {
		return g.shuffle("join", 2, wordCount(g), g.narrow(op, g.source(3)))
	}
	base := lineage.Fingerprint(program(&graph{}, "map"))

	t.Run("is_16_hexadecimal_digits_that_never_change", func(t *testing.T) {
		// Processes of different builds compare it, so a new value here is a break of format.
		if want := "a39b759a79be2004"; base != want {
			t.Errorf("%s, want %s", base, want)
		}
	})
	same := map[string]*testNode{
		"of_another_batch":           program(&graph{scope: lineage.Scope{Batch: 2000, Stream: 1}}, "map"),
		"with_ids_from_elsewhere":    program(&graph{next: 70}, "map"),
		"built_on_other_lines":       program(&graph{line: 12}, "map"),
		"with_other_partitions":      program(&graph{}, "map"),
		"with_an_unreadable_source":  program(&graph{}, "map"),
		"whose_nodes_are_made_later": lateNodes(),
	}
	same["with_other_partitions"].parts = 99
	same["with_an_unreadable_source"].deps[1].Parent.(*testNode).parts = -1
	for _, name := range slices.Sorted(maps.Keys(same)) {
		n := same[name]
		t.Run("is_shared_by_a_graph/"+name, func(t *testing.T) {
			if got := lineage.Fingerprint(n); got != base {
				t.Errorf("%s, want %s", got, base)
			}
		})
	}

	swapped := program(&graph{}, "map")
	swapped.deps[0], swapped.deps[1] = swapped.deps[1], swapped.deps[0]
	narrowed := program(&graph{}, "map")
	narrowed.deps[1] = lineage.OneToOne(narrowed.deps[1].Parent)
	dropped := program(&graph{}, "map")
	dropped.deps = dropped.deps[:1]
	longer := program(&graph{}, "map")
	longer.deps[1].Parent.(*testNode).op = "maptextFile"
	different := map[string]*testNode{
		"with_another_operator":        program(&graph{}, "filter"),
		"with_its_edges_swapped":       swapped,
		"with_a_narrow_for_a_shuffle":  narrowed,
		"with_an_edge_less":            dropped,
		"with_a_longer_operator_name":  longer,
		"that_is_a_part_of_it":         swapped.deps[0].Parent.(*testNode),
		"with_a_node_more":             (&graph{next: 50}).narrow("map", program(&graph{}, "map")),
		"that_reads_one_source_twice":  shared(true),
		"that_reads_two_sources_alike": shared(false),
	}
	seen := map[string]string{base: "the graph itself"}
	for _, name := range slices.Sorted(maps.Keys(different)) {
		n := different[name]
		t.Run("differs_from_a_graph/"+name, func(t *testing.T) {
			got := lineage.Fingerprint(n)
			if other, ok := seen[got]; ok {
				t.Errorf("%s is also that of %s", got, other)
			}
			seen[got] = name
		})
	}
}

// lateNodes is the program of TestFingerprint with its right side built first.
func lateNodes() *testNode {
	var g graph
	right := g.narrow("map", g.source(3))
	left := wordCount(&g)
	return g.shuffle("join", 2, left, right)
}

// shared zips a source with itself, or with another of the same kind.
func shared(same bool) *testNode {
	var g graph
	a := g.source(1)
	b := a
	if !same {
		b = g.source(1)
	}
	return g.narrow("zip", a, b)
}
