package rdd

import (
	"reflect"
	"unsafe"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// Operators that hold records, which is all those that sort, group, combine or deal out, ask for the memory they
// hold and write to scratch files where it is refused. One rule binds them all: spilling changes nothing
// visible. The same rows come in the same order, and the program's functions are called in the same
// grouping and order for each key. A partition that is computed again, with another amount of memory, is the
// same then, also where a function is not associative, as the sum of floats is not.

// A budget is the memory that one operator of a task holds.
type budget struct {
	t     *task
	floor int64 // what is held without asking
	held  int64 // what has been reserved
}

const (
	// budgetFloor is what an operator holds without asking: small partitions, of which streams have many, cost no
	// call. It is small beside the buffers that spilling needs itself.
	budgetFloor = 256 << 10
	// budgetStep is the least that is asked for at once.
	budgetStep = 256 << 10
)

// floored is an environment with a floor of its own, as tests have one: they spill few rows.
type floored interface{ budgetFloor() int64 }

func newBudget(t *task) budget {
	b := budget{t: t, floor: budgetFloor}
	if f, ok := t.env.(floored); ok {
		b.floor = f.budgetFloor()
	}
	return b
}

// fits says whether the operator may hold so many bytes, its estimate of what it holds now. It is called
// once a chunk.
func (b *budget) fits(bytes int64) bool {
	if bytes <= max(b.held, b.floor) {
		return true
	}
	step := max(bytes-b.held, budgetStep, b.held/4)
	if !b.t.env.Reserve(b.t.ctx, step) {
		return false
	}
	b.held += step
	return true
}

// insist goes on without asking up to so many bytes.
func (b *budget) insist(bytes int64) { b.floor = max(b.floor, bytes) }

// release gives everything back.
func (b *budget) release() {
	if b.held > 0 {
		b.t.env.Release(b.held)
	}
	b.held = 0
}

// A sampler estimates what rows refer to as they pass, from one in sampleEvery of them.
type sampler[T any] struct {
	deep    func(*T) int64 // nil: rows refer to nothing
	skip    int            // rows until the next one that is looked at
	sampled int64
	bytes   int64 // that the sampled rows refer to
}

const sampleEvery = 64

func newSampler[T any]() sampler[T] { return sampler[T]{deep: codec.SizeFunc[T]()} }

// see takes note of rows.
func (s *sampler[T]) see(chunk []T) {
	if s.deep == nil {
		return
	}
	i := s.skip
	for ; i < len(chunk); i += sampleEvery {
		s.bytes += s.deep(&chunk[i])
		s.sampled++
	}
	s.skip = i - len(chunk)
}

// memory is the estimate for so many rows in slices that have some room to spare.
func (s *sampler[T]) memory(rows, room int) int64 {
	var zero T
	bytes := int64(room) * max(int64(unsafe.Sizeof(zero)), 1)
	if s.sampled > 0 {
		bytes += int64(float64(s.bytes) / float64(s.sampled) * float64(rows))
	}
	return bytes
}

// grown is the room that slices of n rows in all have, about, if they grew row by row.
func grown(n int) int { return n + n/4 }

// A gauge estimates what the keys and values of a table refer to. Values are combiners, which grow
// while rows are folded into them, a few perhaps far more than the others: a sample would miss those. All are
// looked at again whenever so many rows have come that it costs little a row.
type gauge[K comparable, C any] struct {
	key   func(*K) int64 // nil: keys refer to nothing, or the table holds the bytes of strings itself
	value func(*C) int64
	bytes int64 // at the last look
	keys  int   // then
	rows  int64 // since then
	pause int64 // rows until the next look
}

func newGauge[K comparable, C any]() gauge[K, C] {
	g := gauge[K, C]{value: codec.SizeFunc[C]()}
	if reflect.TypeFor[K]().Kind() != reflect.String {
		g.key = codec.SizeFunc[K]()
	}
	return g
}

// memory is the estimate for a table into which so many rows have been folded since the last call.
func (g *gauge[K, C]) memory(table *keyed.Table[K, C], rows int) int64 {
	n := table.Len()
	if g.key == nil && g.value == nil || n == 0 {
		return 0
	}
	g.rows += int64(rows)
	if g.rows >= g.pause {
		g.bytes, g.keys, g.rows = 0, n, 0
		for i := range n {
			if g.key != nil {
				k := table.Key(i)
				g.bytes += g.key(&k)
			}
			if g.value != nil {
				g.bytes += g.value(table.Value(i))
			}
		}
		// A look costs a step for each entry and for every few bytes. Until the next one combiners can have
		// grown by about a quarter.
		g.pause = max((int64(n)+g.bytes/16)/4, chunkSize)
	}
	return int64(float64(g.bytes) * float64(n) / float64(g.keys))
}
