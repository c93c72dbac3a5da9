package sketch_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/sketch"
)

func newSketch(t testing.TB, p, sp int) sketch.HyperLogLog {
	t.Helper()
	h, err := sketch.New(p, sp)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hashes are n pseudo-random numbers, distinct but for a chance of n*n/2^65.
func hashes(seed uint64, n int) []uint64 {
	random := rand.NewPCG(seed, 1)
	out := make([]uint64, n)
	for i := range out {
		out[i] = random.Uint64()
	}
	return out
}

// The error of the mean over 40 seeds, and of each seed, is what the precision promises: a wrong rank, a shifted index
// or a missing correction of the ends lies outside.
func TestEstimateIsWithinItsError(t *testing.T) {
	const seeds = 40
	for _, p := range []int{4, 8, 11, 14} {
		for _, sp := range []int{0, 20} {
			for _, n := range []int{0, 1, 2, 10, 100, 1000, 20_000, 200_000} {
				if n == 200_000 && sp != 0 {
					continue
				}
				var mean, square float64
				for seed := range uint64(seeds) {
					h := newSketch(t, p, sp)
					for _, x := range hashes(seed, n) {
						h.Add(x)
						if n < 1000 {
							h.Add(x) // what is there already counts once
						}
					}
					got := h.Estimate()
					if n == 0 {
						if got != 0 {
							t.Errorf("p %d: estimate %v of nothing", p, got)
						}
						continue
					}
					e := (got - float64(n)) / float64(n)
					mean += e / seeds
					square += e * e / seeds
				}
				sd := sketch.StandardError(p)
				if p == 4 {
					sd *= 1.2 // the error formula is that of many registers
				}
				if rms := math.Sqrt(square); n >= 100 && rms > 1.5*sd { // one collision among few is more than that
					t.Errorf("p %d sp %d n %d: error %.4f, promised %.4f", p, sp, n, rms, sd)
				}
				if math.Abs(mean) > 3.5*sd/math.Sqrt(seeds) {
					t.Errorf("p %d sp %d n %d: bias %.4f, allowed %.4f", p, sp, n, mean, 3.5*sd/math.Sqrt(seeds))
				}
			}
		}
	}
}

// With a long sparse index small sets are nearly exact, which they are not without.
func TestSparseEntriesMakeSmallSetsExact(t *testing.T) {
	for n := range 120 {
		h := newSketch(t, 12, 25)
		for _, x := range hashes(uint64(n), n) {
			h.Add(x)
		}
		if got := h.Estimate(); math.Round(got) != float64(n) {
			t.Errorf("%d hashes: %v", n, got)
		}
	}
}

// Cut, order and repetition change nothing, also across the change from entries to registers.
func TestMergeGivesTheUnion(t *testing.T) {
	for _, sp := range []int{0, 12, 25} {
		for _, n := range []int{0, 1, 40, 130, 600, 5000} {
			all := hashes(7, n)
			whole := newSketch(t, 10, sp)
			for _, x := range all {
				whole.Add(x)
			}
			for _, parts := range []int{1, 2, 7} {
				merged := newSketch(t, 10, sp)
				for i := range parts {
					part := newSketch(t, 10, sp)
					own := slices.Clone(all[i*n/parts : min(n, (i+1)*n/parts+50)]) // neighbours overlap
					slices.Reverse(own)
					for _, x := range own {
						part.Add(x)
					}
					before := part.Estimate()
					if err := merged.Merge(&part); err != nil {
						t.Fatal(err)
					}
					if part.Estimate() != before {
						t.Error("merging changed the sketch it took from")
					}
				}
				if got, want := merged.Estimate(), whole.Estimate(); math.Abs(got-want) > 1e-9*want {
					t.Errorf("sp %d n %d parts %d: %v, want %v", sp, n, parts, got, want)
				}
				if whole.Estimate(); cmp.Diff(whole.Registers, merged.Registers) != "" && whole.Registers != nil && merged.Registers != nil {
					t.Errorf("sp %d n %d parts %d: registers differ", sp, n, parts)
				}
			}
		}
	}
}

// An entry becomes the register that its hash would have set at once.
func TestEntriesBecomeTheSameRegisters(t *testing.T) {
	few := slices.Concat(hashes(3, 3000), []uint64{0, 1, math.MaxUint64, 1 << 53, 1 << 54, 1 << 43, 1 << 39, 1 << 38})
	long, short := newSketch(t, 10, 25), newSketch(t, 10, 0)
	for _, x := range few {
		long.Add(x)
		short.Add(x)
	}
	long.Estimate()
	short.Estimate()
	if long.Registers == nil || cmp.Diff(long.Registers, short.Registers) != "" {
		t.Error("registers by way of long entries differ from those by way of short ones")
	}
	if long.Registers[0] != 64-10+1 {
		t.Errorf("the register of hash 0 is %d", long.Registers[0])
	}
}

func TestPrecision(t *testing.T) {
	for _, c := range []struct{ p, sp int }{{3, 0}, {33, 0}, {-1, 0}, {4, 33}, {10, 9}, {10, -1}} {
		if _, err := sketch.New(c.p, c.sp); !errors.Is(err, sketch.ErrPrecision) {
			t.Errorf("New(%d, %d): %v", c.p, c.sp, err)
		}
	}
	for _, sd := range []float64{0.000017, 0, -1, math.NaN()} {
		if _, err := sketch.PrecisionFor(sd); !errors.Is(err, sketch.ErrPrecision) {
			t.Errorf("PrecisionFor(%v): %v", sd, err)
		}
	}
	for sd, want := range map[float64]int{10: 4, 0.3: 4, 0.05: 9, 0.01: 14, 0.00002: 32} {
		if got, err := sketch.PrecisionFor(sd); got != want || err != nil {
			t.Errorf("PrecisionFor(%v) = %d, %v; want %d", sd, got, err, want)
		}
	}
}

func TestCodecCarriesSketches(t *testing.T) {
	c, err := codec.For[sketch.HyperLogLog]()
	if err != nil {
		t.Fatal(err)
	}
	var rows []sketch.HyperLogLog
	for _, n := range []int{0, 30, 200, 9000} {
		h := newSketch(t, 9, 20)
		for _, x := range hashes(1, n) {
			h.Add(x)
		}
		rows = append(rows, h)
	}
	data, err := c.Append(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(data)
	if err != nil || cmp.Diff(rows, got) != "" {
		t.Errorf("decoded %v, %v", got, err)
	}
	copied := codec.CloneFunc[sketch.HyperLogLog]()(rows[3])
	clear(copied.Registers)
	if rows[3].Estimate() < 5000 {
		t.Error("a copy shares registers")
	}
}

func TestForeignFieldsAreRefused(t *testing.T) {
	good := newSketch(t, 4, 5)
	for name, bad := range map[string]sketch.HyperLogLog{
		"zero value":        {},
		"precisions":        {Precision: 9, SparsePrecision: 8},
		"sparse too long":   {Precision: 9, SparsePrecision: 64},
		"sorted":            {Precision: 4, SparsePrecision: 5, Sorted: 1},
		"index":             {Precision: 4, SparsePrecision: 5, Entries: []uint64{32<<6 | 1}},
		"rank 0":            {Precision: 4, SparsePrecision: 5, Entries: []uint64{1 << 6}},
		"rank too high":     {Precision: 4, SparsePrecision: 5, Entries: []uint64{1<<6 | 61}},
		"order":             {Precision: 4, SparsePrecision: 5, Entries: []uint64{2<<6 | 1, 1<<6 | 1}, Sorted: 2},
		"registers":         {Precision: 4, SparsePrecision: 5, Registers: make([]byte, 15)},
		"register too high": {Precision: 4, SparsePrecision: 5, Registers: append(make([]byte, 15), 62)},
		"both":              {Precision: 4, SparsePrecision: 5, Entries: []uint64{65}, Registers: make([]byte, 16)},
		"other precision":   newSketch(t, 5, 5),
	} {
		if err := good.Merge(&bad); !errors.Is(err, sketch.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
		if e := bad.Estimate(); name != "other precision" && !math.IsNaN(e) {
			t.Errorf("%s: estimate %v", name, e)
		}
	}
}

func ExampleNew() {
	random := rand.NewPCG(1, 2)
	h, err := sketch.New(12, 25)
	for range 100 {
		x := random.Uint64()
		h.Add(x)
		h.Add(x)
	}
	fmt.Printf("%.0f %v\n", h.Estimate(), err)
	// Output: 100 <nil>
}

func ExampleHyperLogLog_Merge() {
	a, _ := sketch.New(10, 20)
	b, _ := sketch.New(10, 20)
	a.Add(0x0123456789abcdef)
	a.Add(0x5123456789abcdef)
	b.Add(0x5123456789abcdef)
	b.Add(0xf123456789abcdef)
	err := a.Merge(&b)
	fmt.Printf("%.0f %v\n", a.Estimate(), err)
	// Output: 3 <nil>
}

func ExamplePrecisionFor() {
	fmt.Println(sketch.PrecisionFor(0.01))
	// Output: 14 <nil>
}

func BenchmarkAdd(b *testing.B) {
	all := hashes(1, 1<<16)
	for _, c := range []struct {
		name string
		n    int
	}{{"entries=1000", 1000}, {"registers=65536", 1 << 16}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				h := newSketch(b, 14, 25)
				for _, x := range all[:c.n] {
					h.Add(x)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/record")
		})
	}
	b.Run("loop", func(b *testing.B) {
		var registers [1 << 14]byte
		for b.Loop() {
			for _, x := range all {
				registers[x>>50] = max(registers[x>>50], byte(x))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/record")
	})
}
