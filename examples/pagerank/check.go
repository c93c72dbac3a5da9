package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// plainRank is pageRank as a plain loop. Lines that are no edges are left out: pageRank has refused
// or skipped them.
func plainRank(lines []string, o options) []rank {
	links := map[string][]string{}
	for _, line := range lines {
		if !isEdge(line) {
			continue
		}
		e, err := parseEdge(line)
		if err != nil {
			continue
		}
		if !slices.Contains(links[e.Key], e.Value) {
			links[e.Key] = append(links[e.Key], e.Value)
		}
		if _, ok := links[e.Value]; !ok {
			links[e.Value] = nil // a node all the same
		}
	}
	nodes := slices.Sorted(maps.Keys(links))
	n := float64(len(nodes))
	ranks := map[string]float64{}
	for _, node := range nodes {
		ranks[node] = 1 / n
	}
	for range o.iterations {
		next, stuck := map[string]float64{}, 0.0
		for _, node := range nodes {
			if len(links[node]) == 0 {
				stuck += ranks[node]
			}
			for _, to := range links[node] {
				next[to] += ranks[node] / float64(len(links[node]))
			}
		}
		for _, node := range nodes {
			next[node] = (1-o.damping)/n + o.damping*(next[node]+stuck/n)
		}
		ranks = next
	}
	out := make([]rank, 0, len(nodes))
	for _, node := range nodes {
		out = append(out, rank{Key: node, Value: ranks[node]})
	}
	return out
}

// check returns the largest difference of two nodes' ranks, and an error if it is above 1e-9 or the nodes
// are not the same.
func check(got, want []rank) (float64, error) {
	byNode := func(a, b rank) int { return cmp.Compare(a.Key, b.Key) }
	got, want = slices.SortedFunc(slices.Values(got), byNode), slices.SortedFunc(slices.Values(want), byNode)
	if !slices.EqualFunc(got, want, func(a, b rank) bool { return a.Key == b.Key }) {
		return math.Inf(1), fmt.Errorf("%d nodes are ranked, not those %d of the plain loop", len(got), len(want))
	}
	largest := 0.0
	for i := range got {
		largest = max(largest, math.Abs(got[i].Value-want[i].Value)) // NaN if one is
	}
	if !(largest <= 1e-9) {
		return largest, fmt.Errorf("a rank differs from the plain loop's by %g", largest)
	}
	return largest, nil
}
