package blockcopies

import (
	"slices"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// coverage is which stretches of a segment there are: in order, with something between each two.
type coverage []receivedlog.Part

// add returns the coverage with a stretch more.
func (c coverage) add(p receivedlog.Part) coverage {
	if p.From >= p.To {
		return c
	}
	i := 0
	for i < len(c) && c[i].To < p.From {
		i++
	}
	j := i
	for j < len(c) && c[j].From <= p.To {
		p.From, p.To = min(p.From, c[j].From), max(p.To, c[j].To)
		j++
	}
	return slices.Concat(c[:i], coverage{p}, c[j:])
}

// without returns what c has and other has not.
func (c coverage) without(other coverage) (rest coverage) {
	for _, p := range c {
		for _, o := range other {
			if o.To <= p.From || o.From >= p.To {
				continue
			}
			if o.From > p.From {
				rest = append(rest, receivedlog.Part{From: p.From, To: o.From})
			}
			if p.From = o.To; p.From >= p.To {
				break
			}
		}
		if p.From < p.To {
			rest = append(rest, p)
		}
	}
	return rest
}

// upTo returns what lies before an offset.
func (c coverage) upTo(end int64) coverage {
	return c.without(coverage{{From: end, To: 1<<63 - 1}})
}

// end returns where the last stretch ends.
func (c coverage) end() int64 {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].To
}

// valid reports whether c is a coverage, whoever made it.
func (c coverage) valid() bool {
	for i, p := range c {
		if p.From < 0 || p.From >= p.To || i > 0 && c[i-1].To >= p.From {
			return false
		}
	}
	return true
}

// A place is a segment of an epoch's log.
type place struct {
	epoch, segment uint64
}

func (p place) before(o place) bool {
	return p.epoch < o.epoch || p.epoch == o.epoch && p.segment < o.segment
}

// A holding is what somebody has of a segment.
type holding struct {
	place
	parts coverage
}

// find returns where in a list, which is in order, a segment is or would be.
func find(all []holding, p place) (int, bool) {
	return slices.BinarySearchFunc(all, p, func(h holding, p place) int {
		switch {
		case h.before(p):
			return -1
		case p.before(h.place):
			return 1
		}
		return 0
	})
}

// partsOf returns what a list has of a segment.
func partsOf(all []holding, p place) coverage {
	if i, ok := find(all, p); ok {
		return all[i].parts
	}
	return nil
}

// addPart returns a list with a stretch more.
func addPart(all []holding, p place, part receivedlog.Part) []holding {
	i, ok := find(all, p)
	if !ok {
		all = slices.Insert(all, i, holding{place: p})
	}
	all[i].parts = all[i].parts.add(part)
	return all
}
