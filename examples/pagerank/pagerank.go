package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// A rank is a node and its rank.
type rank = rdd.Pair[string, float64]

// An edge leads from Key to Value.
type edge = rdd.Pair[string, string]

type options struct {
	iterations, checkpoint, partitions int
	damping                            float64
}

func (o options) validate() error {
	switch {
	case o.iterations < 0:
		return fmt.Errorf("-iterations %d is negative", o.iterations)
	case o.checkpoint < 0:
		return fmt.Errorf("-checkpoint %d is negative", o.checkpoint)
	case o.partitions < 1:
		return fmt.Errorf("-partitions %d is below 1", o.partitions)
	case !(o.damping >= 0 && o.damping <= 1): // nor NaN
		return fmt.Errorf("-damping %v is not between 0 and 1", o.damping)
	}
	return nil
}

// A result is the ranks and what is known of how they were made.
type result struct {
	ranks       []rank
	links       lineage.NodeID // the node that reads the link table's shuffle
	checkpoints int
}

// pageRank hands ranks on along the links. The rank of a node is
//
//	(1-damping)/n + damping * (what its neighbours hand on + what nodes without links have / n)
//
// so that all ranks add up to 1.
func pageRank(ctx context.Context, lines *rdd.RDD[string], o options) (result, error) {
	hash := rdd.Hash[string](o.partitions)
	grouped := rdd.GroupByKey(withBothEnds(lines), rdd.PartitionedBy(hash))
	// Kept where it is: the join below finds links and ranks of a node in the same partition, so
	// that only what is handed on moves.
	links := rdd.MapValues(grouped, targets).Cache()
	nodes, err := links.Count(ctx)
	if err != nil {
		return result{}, err
	}
	n := float64(nodes)
	ranks := rdd.MapValues(links, func([]string) float64 { return 1 / n })
	var before *rdd.RDD[rank]
	var marked []*rdd.RDD[rank]
	for i := 1; i <= o.iterations; i++ {
		joined := rdd.Join(links, ranks)
		// This job also computes the ranks of the iteration before and writes their checkpoint;
		// what those were made from can go.
		stuck, err := rdd.Aggregate(ctx, joined, 0, addStuck, add)
		if err != nil {
			return result{}, err
		}
		if before != nil {
			before.Unpersist()
		}
		sums := rdd.ReduceByKey(rdd.FlatMapAppend(joined, handOn), add, rdd.PartitionedBy(hash))
		base := (1-o.damping)/n + o.damping*stuck/n
		before = ranks
		ranks = rdd.MapValues(sums, func(sum float64) float64 { return base + o.damping*sum }).Cache()
		if o.checkpoint > 0 && i%o.checkpoint == 0 {
			if err := ranks.Checkpoint(); err != nil {
				return result{}, err
			}
			marked = append(marked, ranks)
		}
	}
	all, err := ranks.Collect(ctx)
	if err != nil {
		return result{}, err
	}
	r := result{ranks: all, links: grouped.ID()}
	for _, m := range marked {
		if m.IsCheckpointed() {
			r.checkpoints++
		}
	}
	return r, nil
}

// withBothEnds returns the edges and, so that a node without links has a place in the table, an edge
// from each target to "".
func withBothEnds(lines *rdd.RDD[string]) *rdd.RDD[edge] {
	edges := rdd.TryMap(lines.Filter(isEdge), parseEdge)
	return rdd.FlatMapAppend(edges, func(e edge, out []edge) []edge {
		return append(out, e, edge{Key: e.Value})
	})
}

func isEdge(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#'
}

func parseEdge(line string) (edge, error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return edge{}, fmt.Errorf("%q is no edge: want two nodes", line)
	}
	return edge{Key: fields[0], Value: fields[1]}, nil
}

// targets returns the nodes among the ends of edges, sorted, each once.
func targets(ends []string) []string {
	slices.Sort(ends)
	ends = slices.Compact(ends)
	if len(ends) > 0 && ends[0] == "" {
		ends = ends[1:]
	}
	return ends
}

// A place is a node with its links and its rank.
type place = rdd.Pair[string, rdd.Joined[[]string, float64]]

// handOn gives each neighbour its part of a rank, and the node itself 0, so that it stays.
func handOn(p place, out []rank) []rank {
	out = append(out, rank{Key: p.Key})
	for _, to := range p.Value.Left {
		out = append(out, rank{Key: to, Value: p.Value.Right / float64(len(p.Value.Left))})
	}
	return out
}

// addStuck adds the rank of a node without links.
func addStuck(sum float64, p place) float64 {
	if len(p.Value.Left) == 0 {
		sum += p.Value.Right
	}
	return sum
}

func add(a, b float64) float64 { return a + b }
