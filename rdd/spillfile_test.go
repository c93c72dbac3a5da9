package rdd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/rdd/codec"
)

func testSpool(t testing.TB, m *inlineMemory) *spool {
	r := newInlineRunner(false)
	r.Memory = m
	c := newTestContext(t, r, Options{})
	return newSpool(newTask(t.Context(), &inlineEnv{runner: r}), &place{node: &Parallelize(c, []int{}, 1).base, part: 3})
}

func TestSpilled(t *testing.T) {
	t.Run("rows and numbers come back in order, of several sequences in one file", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			m := &inlineMemory{}
			p := testSpool(t, m)
			seqs := []*spilled[[]string]{newSpilled(p, new(lazyCodec[[]string])), newSpilled(p, new(lazyCodec[[]string]))}
			rows, numbers := make([][][]string, 2), make([][]int64, 2)
			n := rapid.IntRange(0, 4000).Draw(rt, "rows")
			width := rapid.IntRange(0, 40).Draw(rt, "width")
			random := newRandom(rapid.Uint64().Draw(rt, "seed"))
			var number int64
			for range n {
				s := random.IntN(2)
				number += int64(random.IntN(3))
				row := slices.Repeat([]string{strings.Repeat("x", random.IntN(9))}, random.IntN(width+1))
				if random.IntN(9) == 0 {
					row = nil
				}
				rows[s], numbers[s] = append(rows[s], row), append(numbers[s], number)
				if err := seqs[s].add(&row, number); err != nil {
					rt.Fatal(err)
				}
			}
			for s, seq := range seqs {
				if err := seq.flush(); err != nil {
					rt.Fatal(err)
				}
				for range 2 {
					var got [][]string
					var gotNumbers []int64
					if err := seq.each(func(rows [][]string, numbers []int64) error {
						got, gotNumbers = append(got, rows...), append(gotNumbers, numbers...)
						return nil
					}); err != nil {
						rt.Fatal(err)
					}
					if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", rows[s]) || !slices.Equal(gotNumbers, numbers[s]) {
						rt.Fatalf("sequence %d differs", s)
					}
				}
			}
			if got := p.t.env.Metrics().SpilledRows; got != int64(n) {
				rt.Fatalf("%d rows counted, %d written", got, n)
			}
			p.close()
			p.close()
			m.settled(t)
		})
	})
	t.Run("damage anywhere is an error that names the operator", func(t *testing.T) {
		size := 0
		for at := 0; at == 0 || at < size; at++ {
			m := &inlineMemory{damage: func(_ int, frame []byte) { size = len(frame); frame[at] ^= 0x10 }}
			p := testSpool(t, m)
			s := newSpilled(p, new(lazyCodec[string]))
			if err := s.addAll([]string{"a", "bc", "def"}, []int64{1, 2, 300}); err != nil {
				t.Fatal(err)
			}
			err := s.drain(func([]string, []int64) error { return nil })
			if !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "parallelize[1], partition 3: read spilled rows at byte 0") {
				t.Fatalf("byte %d: %v", at, err)
			}
			p.close()
		}
		if size < 30 {
			t.Errorf("frame of %d bytes", size)
		}
	})
	t.Run("a file that takes no more", func(t *testing.T) {
		p := testSpool(t, &inlineMemory{full: 1})
		s := newSpilled(p, new(lazyCodec[int]))
		for i := range 10 * spillFrameRows {
			if err := s.add(&i, 0); err != nil {
				wantErr(t, "write", err, errFull)
				p.close()
				return
			}
		}
		t.Error("all was written")
	})
	t.Run("rows without an encoding stay in memory", func(t *testing.T) {
		m := &inlineMemory{}
		s := newSpilled(testSpool(t, m), new(lazyCodec[secret]))
		for i := range 5000 {
			if err := s.add(&secret{i}, int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		if err := s.drain(func(rows []secret, numbers []int64) error {
			for i, r := range rows {
				if r.n != n || numbers[i] != int64(n) {
					return fmt.Errorf("row %d is %d", n, r.n)
				}
				n++
			}
			return nil
		}); err != nil || n != 5000 || m.writes != 0 {
			t.Errorf("%v, %d rows, %d writes", err, n, m.writes)
		}
	})
}

// secret has no encoding.
type secret struct{ n int }

func TestMergeSpilled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := testSpool(t, &inlineMemory{})
		defer p.close()
		random := newRandom(rapid.Uint64().Draw(rt, "seed"))
		seqs := make([]*spilled[int], rapid.IntRange(1, spillBuckets).Draw(rt, "sequences"))
		for i := range seqs {
			seqs[i] = newSpilled(p, new(lazyCodec[int]))
		}
		n := rapid.IntRange(0, 3000).Draw(rt, "rows")
		for i := range n {
			if err := seqs[random.IntN(len(seqs))].add(&i, int64(i)); err != nil {
				rt.Fatal(err)
			}
		}
		for _, s := range seqs {
			if err := s.flush(); err != nil {
				rt.Fatal(err)
			}
		}
		next := 0
		err := mergeSpilled(p.t, seqs, func(rows []int, numbers []int64) error {
			for i := range rows {
				if rows[i] != next || numbers[i] != int64(next) {
					return fmt.Errorf("row %d is %d", next, rows[i])
				}
				next++
			}
			return nil
		})
		if err != nil || next != n {
			rt.Fatalf("%v, %d rows of %d", err, next, n)
		}
	})
}

// The buckets of a level are even whatever the hashes have in common.
func TestSpillBucket(t *testing.T) {
	for name, hash := range map[string]func(i int) uint64{
		"integers":              func(i int) uint64 { return uint64(i) },
		"one partition of 64":   func(i int) uint64 { return uint64(i)*64 + 5 },
		"high bits":             func(i int) uint64 { return uint64(i) << 40 },
		"one bucket a level up": nil,
	} {
		for level := range spillLevels {
			counts := make([]int, spillBuckets)
			n := 0
			for i := 0; n < 1600; i++ {
				h := uint64(i)
				if hash != nil {
					h = hash(i)
				} else if level > 0 && spillBucket(h, level-1) != 7 {
					continue
				}
				n++
				counts[spillBucket(h, level)]++
			}
			if slices.Min(counts) < 50 || slices.Max(counts) > 170 {
				t.Errorf("%s, level %d: %v", name, level, counts)
			}
		}
	}
}
