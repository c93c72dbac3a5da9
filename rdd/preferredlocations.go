package rdd

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// Preferred returns the hosts that have the records of a partition at hand by the RDD's own account: those a source was
// given. It is nil where the RDD knows none, as all derived ones do.
func (b *base) Preferred(part int) []string {
	if b.near == nil {
		return nil
	}
	return b.near(part)
}

// PreferredLocations returns the hosts where computing a partition is cheapest: its own preferred ones, else those of the
// partitions it is computed from without a shuffle. Where these are several, it is the hosts that all of them that have
// any name, else the hosts that any of them names.
//
// Order: as the parents name them.
// Cost: one walk over the narrow lineage of the partition.
// Errors: a partition that is not there is ErrArgument.
func (b *base) PreferredLocations(part int) ([]string, error) {
	n, err := b.NumPartitions()
	if err != nil {
		return nil, err
	}
	if part < 0 || part >= n {
		return nil, fmt.Errorf("preferred locations of %s: %w: partition %d of %d", b.String(), ErrArgument, part, n)
	}
	return slices.Clone(b.located(part)), nil
}

// piece is one partition of one node.
type piece struct {
	node lineage.NodeID
	part int
}

// visit is a piece on the way down, and again when its parents are done.
type visit struct {
	node    lineage.Node
	part    int
	leaving bool
}

// located walks the pieces that a partition is computed from, each once, parents first. The graph may be deep, so the
// walk has a stack of its own.
func (b *base) located(part int) []string {
	hosts := map[piece][]string{}
	stack := []visit{{node: b, part: part}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		at := piece{v.node.ID(), v.part}
		if v.leaving {
			hosts[at] = agreed(parentHosts(v, hosts))
			continue
		}
		if _, seen := hosts[at]; seen {
			continue
		}
		hosts[at] = nil
		if p, ok := v.node.(interface{ Preferred(part int) []string }); ok {
			if own := p.Preferred(v.part); len(own) > 0 {
				hosts[at] = own
				continue
			}
		}
		stack = append(stack, visit{v.node, v.part, true})
		for _, d := range v.node.Deps() {
			if d.Shuffle == nil {
				for _, p := range d.Narrow(v.part) {
					stack = append(stack, visit{node: d.Parent, part: p})
				}
			}
		}
	}
	return hosts[piece{b.id, part}]
}

// parentHosts returns what is known of the parents of a piece, without those of which nothing is.
func parentHosts(v visit, hosts map[piece][]string) [][]string {
	var all [][]string
	for _, d := range v.node.Deps() {
		if d.Shuffle != nil {
			continue
		}
		for _, p := range d.Narrow(v.part) {
			if h := hosts[piece{d.Parent.ID(), p}]; len(h) > 0 {
				all = append(all, h)
			}
		}
	}
	return all
}

// agreed returns what is in all lists, else what is in any, in the order met.
func agreed(lists [][]string) []string {
	if len(lists) < 2 {
		return slices.Concat(lists...)
	}
	var common, either []string
	for _, host := range lists[0] {
		everywhere := true
		for _, l := range lists[1:] {
			everywhere = everywhere && slices.Contains(l, host)
		}
		if everywhere && !slices.Contains(common, host) {
			common = append(common, host)
		}
	}
	if len(common) > 0 {
		return common
	}
	for _, l := range lists {
		for _, host := range l {
			if !slices.Contains(either, host) {
				either = append(either, host)
			}
		}
	}
	return either
}
