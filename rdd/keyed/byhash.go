package keyed

import (
	"cmp"
	"math/bits"
	"slices"
)

// ByHash returns the rows in the order of their spread hashes, rows that agree in it in their own order: the order in which
// MergeByHash reads and writes. It is the same for the same keys in every process.
//
// Cost: three passes over the rows and a copy of them; rows that are hashed to a few values only are sorted.
func (p *Packed[K, V]) ByHash() *Packed[K, V] {
	n := p.Len()
	if n < 2 {
		return p
	}
	from := &p.entries
	spreads := make([]uint64, n)
	to := Table[K, V]{hasher: from.hasher}
	switch from.hasher.kind {
	case keysString:
		for i := range spreads {
			spreads[i] = from.stringHash(&from.words[i])
		}
		to.words = inOrder(from.words, spreads)
		if len(from.arena) > 0 {
			to.arena = make([]byte, 0, len(from.arena))
			for i := range to.words {
				if e := &to.words[i]; e.hi >= longString {
					e.lo = to.adopt(from, e)
				}
			}
		}
	case keysInt:
		for i := range spreads {
			spreads[i] = mixInt(from.ints[i].key)
		}
		to.ints = inOrder(from.ints, spreads)
	default:
		for i := range spreads {
			spreads[i] = mixInt(from.whole[i].hash)
		}
		to.whole = inOrder(from.whole, spreads)
	}
	return &Packed[K, V]{entries: to}
}

// adopt appends the long string of an entry of another table, and its hash, to the arena and returns where it lies.
func (t *Table[K, V]) adopt(from *Table[K, V], e *wordEntry[V]) uint64 {
	b := from.arena[e.lo-8 : e.lo+e.hi&^longString]
	t.arena = append(t.arena, b...)
	return uint64(len(t.arena) - len(b) + 8)
}

const (
	// bucketRows is about how many rows a bucket of inOrder has at least.
	bucketRows = 4
	// crowdedBucket is how many rows of a bucket are inserted one by one. Only hashes that agree in their first bits by intention
	// give more.
	crowdedBucket = 40
)

// inOrder returns the entries in the order of spreads, which it changes. Rows are dealt to buckets by the first bits of their
// hashes; hashes being spread evenly, a bucket has a few, which are then put in order.
func inOrder[E any](from []E, spreads []uint64) []E {
	log := max(bits.Len(uint(len(from)/bucketRows)), 1)
	shift := 64 - uint(log)
	next := make([]uint32, 1<<log+1) // where the next row of each bucket goes; afterwards the end of the bucket
	for _, s := range spreads {
		next[s>>(shift&63)+1]++
	}
	for b := 1; b < len(next); b++ {
		next[b] += next[b-1]
	}
	to, hashes := make([]E, len(from)), make([]uint64, len(from))
	for i, s := range spreads {
		at := next[s>>(shift&63)]
		next[s>>(shift&63)] = at + 1
		to[at], hashes[at] = from[i], s
	}
	begin := 0
	for _, end := range next[:len(next)-1] {
		if int(end)-begin > crowdedBucket {
			sortBucket(to[begin:end], hashes[begin:end])
		} else if int(end)-begin > 1 {
			insertBucket(to[begin:end], hashes[begin:end])
		}
		begin = int(end)
	}
	return to
}

func insertBucket[E any](rows []E, hashes []uint64) {
	for i := 1; i < len(hashes); i++ {
		h := hashes[i]
		j := i
		for j > 0 && hashes[j-1] > h {
			j--
		}
		if j == i {
			continue
		}
		e := rows[i]
		copy(rows[j+1:i+1], rows[j:i])
		copy(hashes[j+1:i+1], hashes[j:i])
		rows[j], hashes[j] = e, h
	}
}

func sortBucket[E any](rows []E, hashes []uint64) {
	if slices.IsSorted(hashes) {
		return
	}
	type row struct {
		hash  uint64
		entry E
	}
	all := make([]row, len(rows))
	for i := range all {
		all[i] = row{hashes[i], rows[i]}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.hash, b.hash) })
	for i := range all {
		rows[i] = all[i].entry
	}
}
