package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// steadily returns a version of so many keys and one in which touched of them, in ten updates, have changed.
func steadily(b *testing.B, keys, touched int) (before, after *Version[int, int]) {
	before = grown(b, keys)
	x := uint64(1)
	after = before
	for range 10 {
		u := after.Update(hasher[int](b), touched/10)
		for range touched / 10 {
			x = x*6364136223846793005 + 1442695040888963407
			k := int(x>>33) % keys
			s, _ := u.Get(k)
			u.Put(k, s+1)
		}
		after = u.Done()
	}
	return before, after
}

// BenchmarkWriteSince measures the encoding of one file of a million keys, of which one in a hundred was touched since the file before.
func BenchmarkWriteSince(b *testing.B) {
	const keys, touched = 1_000_000, 10_000
	before, after := steadily(b, keys, touched)
	for _, c := range []struct {
		name string
		base *Version[int, int]
	}{{"whole", nil}, {"changes", before}} {
		b.Run(fmt.Sprintf("%s/keys=%d", c.name, keys), func(b *testing.B) {
			bytes := 0
			b.ReportAllocs()
			for b.Loop() {
				bytes = 0
				if _, err := after.WriteSince(c.base, 0, func(frame []byte) error {
					bytes += len(frame)
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/record")
			b.ReportMetric(float64(bytes), "bytes/file")
		})
	}
	b.Run(fmt.Sprintf("marshal/keys=%d", keys), func(b *testing.B) {
		for b.Loop() {
			if _, err := after.MarshalBinary(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/record")
	})
}

// BenchmarkRestored measures making a million keys from a whole round of files, and beside it a loop that decodes the same frames into
// a Go map.
func BenchmarkRestored(b *testing.B) {
	const keys, touched = 1_000_000, 10_000
	before, v := steadily(b, keys, touched)
	files := []file{write(b, before, nil, 0, 0)}
	for range aRound {
		files = append(files, write(b, v, before, files[len(files)-1].span.To, 0))
		before = v
		x := uint64(len(files))
		u := v.Update(hasher[int](b), touched)
		for range touched {
			x = x*6364136223846793005 + 1442695040888963407
			u.Put(int(x>>33)%keys, int(x))
		}
		v = u.Done()
	}
	files = files[1:]
	for _, n := range []int{1, len(files)} {
		files := files
		if n == 1 {
			files = []file{write(b, v, nil, 0, 0)}
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/record")
		}
		b.Run(fmt.Sprintf("restored/files=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got, _, err := restore[int, int](files)
				if err != nil || got.Len() != keys {
					b.Fatal(err, got.Len())
				}
			}
			report(b)
		})
		b.Run(fmt.Sprintf("plain/files=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m := plainly(b, files); len(m) != keys {
					b.Fatal(len(m))
				}
			}
			report(b)
		})
	}
}

// plainly reads files into a map, and what changed through a list of the keys.
func plainly(b *testing.B, files []file) map[int]int {
	m := map[int]int{}
	ints, err := codec.For[int]()
	if err != nil {
		b.Fatal(err)
	}
	var keys []int
	var known []bool
	for _, f := range files {
		for _, frame := range f.frames {
			p := &frameReader{rest: slices.Clone(frame)}
			switch p.byte() {
			case frameHead:
				p.byte()
				if n := p.number(maxEntries); n > len(keys) {
					keys, known = append(keys, make([]int, n-len(keys))...), append(known, make([]bool, n-len(known))...)
				}
			case frameRange:
				first, n := p.number(maxEntries), p.number(mostInChunk)
				p.gone(n)
				ks, err := ints.Decode(p.take(p.number(len(p.rest))))
				if err != nil {
					b.Fatal(err)
				}
				states, err := ints.Decode(p.rest)
				if err != nil {
					b.Fatal(err)
				}
				for i, k := range ks {
					keys[first+i], known[first+i] = k, true
					m[k] = states[i]
				}
			case frameChanges:
				n := p.number(mostInChunk)
				at := make([]int, n)
				before := 0
				for i := range at {
					before += p.number(maxEntries)
					at[i] = before
				}
				p.gone(n)
				states, err := ints.Decode(p.rest)
				if err != nil {
					b.Fatal(err)
				}
				for i, s := range states {
					if known[at[i]] { // else a later file has the entry in its slice
						m[keys[at[i]]] = s
					}
				}
			}
		}
	}
	return m
}
