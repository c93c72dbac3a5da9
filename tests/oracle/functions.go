package oracle

import (
	"fmt"
	"slices"
)

// The functions of the pipelines. All are pure, those that combine are associative and commutative.

// mix spreads a value over all bits. Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014.
func mix(v int64) int64 {
	z := uint64(v) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int64(z ^ z>>31)
}

func scale(v, arg int64) int64 { return v*(arg%5+2) + arg }

// small keeps values in a range where they meet again.
func small(v int64) int64 { return (v%50 + 50) % 50 }

func rekey(r Row, arg int64) Row {
	if small(r.Value+arg)%4 == 0 {
		return Row{Key: fmt.Sprintf("%s/%d", r.Key[:min(len(r.Key), 30)], small(arg)%3), Value: r.Value}
	}
	return Row{Key: r.Key, Value: r.Value + 1}
}

func passes(r Row, arg int64) bool { return small(r.Value+int64(len(r.Key)))%(arg%4+2) != 0 }

// copies returns what a flat map makes of a row: none to two rows.
func copies(r Row, arg int64) []Row {
	out := make([]Row, 0, 2)
	for i := range small(r.Value+arg) % 3 {
		out = append(out, Row{Key: r.Key, Value: r.Value + i})
	}
	return out
}

// manyCopies makes hundreds of rows of few, so that partitions outgrow a chunk.
func manyCopies(r Row, arg int64) []Row {
	n := int64(1)
	if small(r.Value)%10 == 0 {
		n = 150 + small(arg)
	}
	out := make([]Row, 0, n)
	for i := range n {
		out = append(out, Row{Key: r.Key, Value: r.Value + i%17})
	}
	return out
}

// combiner returns one of three functions that combine values.
func combiner(arg int64) func(a, b int64) int64 {
	switch arg % 3 {
	case 0:
		return func(a, b int64) int64 { return a + b }
	case 1:
		return func(a, b int64) int64 { return max(a, b) }
	default:
		return func(a, b int64) int64 { return a ^ b }
	}
}

// invertible returns a function that combines and the one that undoes it.
func invertible(arg int64) (combine, undo func(a, b int64) int64) {
	if arg%2 == 0 {
		return func(a, b int64) int64 { return a + b }, func(a, b int64) int64 { return a - b }
	}
	xor := func(a, b int64) int64 { return a ^ b }
	return xor, xor
}

// digest tells multisets of values apart.
func digest(values []int64) int64 {
	d := int64(len(values))
	for _, v := range values {
		d += mix(v)
	}
	return d
}

// missing stands for the side of an outer join that is not there.
const missing = -77

func both(v, w int64) int64 { return v*3 + w*5 + 1 }

func label(v int64) string { return fmt.Sprintf("v%d", small(v)%6) }

// A total is what AggregateByKey gathers.
type total struct {
	N, Sum, Max int64
}

func (t total) add(v int64) total {
	if t.N == 0 || v > t.Max {
		t.Max = v
	}
	return total{t.N + 1, t.Sum + v, t.Max}
}

func (t total) join(o total) total {
	switch {
	case t.N == 0:
		return o
	case o.N == 0:
		return t
	}
	return total{t.N + o.N, t.Sum + o.Sum, max(t.Max, o.Max)}
}

func (t total) value() int64 { return t.N*7 + t.Sum*3 + t.Max }

// A place is a key made of several fields.
type place struct {
	Name string
	Slot int64
	Odd  bool
}

func placeOf(r Row) place {
	return place{Name: r.Key, Slot: small(r.Value) % 3, Odd: r.Value&1 == 1}
}

func (p place) row(v int64) Row {
	if p.Odd {
		v = -v
	}
	return Row{Key: fmt.Sprintf("%s@%d", p.Name[:min(len(p.Name), 30)], p.Slot), Value: v}
}

// A past is the state of a key: a slice in it shows whether states are kept apart.
type past struct {
	Total int64
	Last  []int64
}

func (p past) value() int64 {
	d := p.Total
	for i, v := range p.Last {
		d += mix(v) * int64(i+1)
	}
	return d
}

// advance is the update of states. It changes the old state in place, as it may.
func advance(arg int64, batch int64, key string, values []int64, old past, had bool) (past, bool) {
	values = slices.Sorted(slices.Values(values)) // their order depends on the partitions
	for _, v := range values {
		old.Total += v
	}
	if len(values) > 0 {
		old.Last = append(old.Last, values...)
		if n := len(old.Last) - 4; n > 0 {
			copy(old.Last, old.Last[n:])
			old.Last = old.Last[:4]
		}
	}
	switch arg % 3 {
	case 1: // forgotten now and then
		return old, len(values) > 0 || small(old.Total)%3 != 0
	case 2: // changed without values too
		if had {
			old.Total += batch%3 + int64(len(key))
		}
	}
	return old, true
}

// advanceTouched leaves a state without values as it is.
func advanceTouched(values []int64, old past, had bool) (past, bool) {
	if len(values) == 0 {
		return old, had
	}
	next, _ := advance(0, 0, "", values, old, had)
	return next, small(next.Total)%4 != 0
}
