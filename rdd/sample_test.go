package rdd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// inBounds fails the test unless got is within six standard deviations of mean: a right implementation with a fixed seed
// is, one that is off by a few percent is not.
func inBounds(t *testing.T, what string, got, mean, deviation float64) {
	t.Helper()
	if math.Abs(got-mean) > 6*deviation+1e-9 {
		t.Errorf("%s: %v, want %v within %v", what, got, mean, 6*deviation)
	}
}

func TestSample(t *testing.T) {
	const n = 20_000
	for _, parts := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", parts), func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			r := Parallelize(c, upTo(n), parts)
			for _, f := range []float64{0, 0.001, 0.3, 0.9, 1} {
				for seed := range uint64(5) {
					rows := collect(t, r.Sample(false, f, seed))
					inBounds(t, fmt.Sprint("size of ", f), float64(len(rows)), n*f, math.Sqrt(n*f*(1-f)))
					if !slices.IsSorted(rows) || len(slices.Compact(slices.Clone(rows))) != len(rows) {
						t.Errorf("fraction %v: out of order or twice", f)
					}
				}
			}
			for _, f := range []float64{0, 0.001, 0.5, 2, 9.5, 10, 37.5} {
				rows := collect(t, r.Sample(true, f, 3))
				inBounds(t, fmt.Sprint("size with replacement of ", f), float64(len(rows)), n*f, math.Sqrt(n*f))
				if !slices.IsSorted(rows) {
					t.Errorf("fraction %v: out of order", f)
				}
				times := make([]float64, n+1)
				for _, x := range rows {
					times[x]++
				}
				var none, squares float64
				for _, k := range times[1:] {
					squares += (k - f) * (k - f)
					if k == 0 {
						none++
					}
				}
				inBounds(t, fmt.Sprint("records left out of ", f), none, n*math.Exp(-f), math.Sqrt(n*math.Exp(-f)))
				inBounds(t, fmt.Sprint("variance of ", f), squares/n, f, math.Sqrt((f+2*f*f)/n))
			}
		})
	}
	t.Run("G9 the same seed gives the same sample, other seeds others", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			r := Parallelize(c, upTo(500), 3)
			for _, replace := range []bool{false, true} {
				s := r.Sample(replace, 0.3, 42)
				first := partsOf(t, s)
				same(t, "computed again", partsOf(t, s), first)
				same(t, "made again", partsOf(t, r.Sample(replace, 0.3, 42)), first)
				same(t, "one partition alone", collect(t, s.PrunePartitions(func(part int) bool { return part == 1 })), first[1])
				if slices.Equal(collect(t, s), collect(t, r.Sample(replace, 0.3, 43))) {
					t.Error("another seed, the same sample")
				}
			}
		})
	})
	t.Run("partitions draw different numbers", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		parts := partsOf(t, Parallelize(c, slices.Concat(upTo(200), upTo(200)), 2).Sample(false, 0.5, 1))
		if slices.Equal(parts[0], parts[1]) {
			t.Error("two partitions of the same records gave the same sample")
		}
	})
	t.Run("copies are their receivers' own", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		r := Parallelize(c, [][]int{{1}, {2}}, 1).Sample(true, 800, 1)
		counted := Map(r, func(x []int) int { x[0] += 10; return x[0] })
		for _, x := range collect(t, counted) {
			if x != 11 && x != 12 {
				t.Fatalf("a copy was changed through another: %d", x)
			}
		}
	})
	t.Run("C19 the partitioner is kept", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		g := GroupByKey(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2), kv(1, 3), kv(4, 4)}, 2), PartitionedBy(Hash[int](2)))
		for what, r := range map[string]*RDD[Pair[int, []int]]{"sample": g.Sample(false, 0.5, 1), "split": g.RandomSplit([]float64{1, 1}, 1)[1],
			"by key": SampleByKey(g, true, []Pair[int, float64]{kv(1, 1.0), kv(2, 1.0), kv(4, 1.0)}, 1)} {
			if p := r.Partitioner(); p == nil || !p.Equal(Hash[int](2)) {
				t.Errorf("%s: partitioner %v, want hash:2", what, p)
			}
		}
	})
	t.Run("bad fractions", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		for _, bad := range []struct {
			replace  bool
			fraction float64
		}{{false, -0.1}, {true, -0.1}, {false, 1.1}, {false, math.NaN()}, {true, math.Inf(1)}} {
			_, err := Parallelize(c, upTo(3), 1).Sample(bad.replace, bad.fraction, 1).Collect(t.Context())
			wantBuildErr(t, err, "sample", ErrArgument)
		}
		if jobs := runner.ran(); len(jobs) > 0 {
			t.Errorf("jobs %v", jobs)
		}
		same(t, "of no partitions", collect(t, Empty[int](c).Sample(true, 2, 1)), []int{})
	})
}

// wantBuildErr fails the test unless err is the *BuildError of an operator, called in a test, with a cause.
func wantBuildErr(t testing.TB, err error, op string, cause error) {
	t.Helper()
	wantErr(t, op, err, cause)
	if b, ok := err.(*BuildError); !ok || b.Op != op || !slices.Contains([]string{"_test.go"}, siteSuffix(b.Site)) {
		t.Errorf("%s: %#v names no call in a test", op, err)
	}
}

func siteSuffix(site string) string {
	for i := len(site) - 1; i >= 8; i-- {
		if site[i] == ':' {
			return site[i-8 : i]
		}
	}
	return site
}

func TestRandomSplit(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", parts), func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			const n = 10_000
			split := Parallelize(c, upTo(n), parts).RandomSplit([]float64{1, 0, 3, 4}, 9)
			var all []int
			for i, share := range []float64{0.125, 0, 0.375, 0.5} {
				rows := collect(t, split[i])
				inBounds(t, fmt.Sprint("part ", i), float64(len(rows)), n*share, math.Sqrt(n*share*(1-share)))
				if !slices.IsSorted(rows) {
					t.Errorf("part %d is out of order", i)
				}
				all = append(all, rows...)
			}
			slices.Sort(all)
			same(t, "all parts together", all, upTo(n))
		})
	}
	c, _ := inlineContext(t, Options{})
	for _, weights := range [][]float64{{1, -1}, {0, 0}, {math.NaN()}, {math.Inf(1)}, {math.MaxFloat64, math.MaxFloat64}} {
		for _, r := range Parallelize(c, upTo(3), 1).RandomSplit(weights, 1) {
			_, err := r.Count(t.Context())
			wantBuildErr(t, err, "randomSplit", ErrArgument)
		}
	}
}

func TestTakeSample(t *testing.T) {
	t.Run("C07 none and less than none", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		same(t, "n = 0", must(TakeSample(t.Context(), Parallelize(c, upTo(5), 2), false, 0, 1)), []int{})
		_, err := TakeSample(t.Context(), Parallelize(c, upTo(5), 2), false, -1, 1)
		wantBuildErr(t, err, "takeSample", ErrArgument)
		if jobs := runner.ran(); len(jobs) > 0 {
			t.Errorf("jobs %v", jobs)
		}
		same(t, "of nothing", must(TakeSample(t.Context(), Empty[int](c), true, 3, 1)), []int{})
		same(t, "of empty partitions", must(TakeSample(t.Context(), Parallelize(c, []int{}, 3), true, 3, 1)), []int{})
	})
	t.Run("exactly n, each as likely", func(t *testing.T) {
		for _, parts := range []int{1, 2, 7} {
			c, _ := inlineContext(t, Options{})
			r := Parallelize(c, upTo(40), parts)
			chosen, firsts := make([]float64, 41), make([]float64, 41)
			const rounds = 1500
			for seed := range uint64(rounds) {
				rows := must(TakeSample(t.Context(), r, false, 10, seed))
				if len(rows) != 10 {
					t.Fatalf("%d rows", len(rows))
				}
				firsts[rows[0]]++
				for _, x := range rows {
					chosen[x]++
				}
				slices.Sort(rows)
				if len(slices.Compact(rows)) != 10 {
					t.Fatal("a record twice")
				}
			}
			for x := 1; x <= 40; x++ {
				inBounds(t, fmt.Sprint("times chosen ", x), chosen[x], rounds/4, math.Sqrt(rounds*0.25*0.75))
				inBounds(t, fmt.Sprint("times first ", x), firsts[x], rounds/40, math.Sqrt(rounds/40))
			}
		}
	})
	t.Run("with replacement, and all", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			r := Parallelize(c, upTo(5), 2)
			for _, n := range []int{1, 5, 7, 20, 300} {
				if rows := must(TakeSample(t.Context(), r, true, n, 3)); len(rows) != n {
					t.Errorf("%d rows, want %d", len(rows), n)
				}
			}
			rows := must(TakeSample(t.Context(), Parallelize(c, upTo(30), 2), false, 30, 3))
			if slices.IsSorted(rows) {
				t.Error("all records are not in random order")
			}
			slices.Sort(rows)
			same(t, "all", rows, upTo(30))
			same(t, "again", must(TakeSample(t.Context(), r, true, 9, 3)), must(TakeSample(t.Context(), r, true, 9, 3)))
		})
	})
}

// thirds are pairs of three keys in the ratio 1:2:7.
func thirds(n int) []Pair[string, int] {
	rows := make([]Pair[string, int], n)
	for i := range rows {
		key := "c"
		if i%10 == 0 {
			key = "a"
		} else if i%10 < 3 {
			key = "b"
		}
		rows[i] = kv(key, i)
	}
	return rows
}

func countOf[K comparable, V any](rows []Pair[K, V]) map[K]int {
	n := map[K]int{}
	for _, p := range rows {
		n[p.Key]++
	}
	return n
}

func TestSampleByKey(t *testing.T) {
	const n = 20_000
	fractions := []Pair[string, float64]{kv("a", 1.0), kv("b", 0.25), kv("c", 0.0)}
	for _, parts := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", parts), func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			r := Parallelize(c, thirds(n), parts)
			rows := collect(t, SampleByKey(r, false, fractions, 5))
			got := countOf(rows)
			if got["a"] != n/10 || got["c"] != 0 || !slices.IsSortedFunc(rows, func(a, b Pair[string, int]) int { return a.Value - b.Value }) {
				t.Errorf("counts %v", got)
			}
			inBounds(t, "b", float64(got["b"]), n/5*0.25, math.Sqrt(n/5*0.25*0.75))
			got = countOf(collect(t, SampleByKey(r, true, []Pair[string, float64]{kv("a", 3.0), kv("b", 0.25), kv("c", 0.0)}, 5)))
			inBounds(t, "a repeated", float64(got["a"]), n/10*3, math.Sqrt(n/10*3))
			inBounds(t, "b repeated", float64(got["b"]), n/5*0.25, math.Sqrt(n/5*0.25))
		})
	}
	t.Run("G3 NaN is one key", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		nan := Parallelize(c, []Pair[float64, int]{kv(math.NaN(), 1), kv(math.Copysign(0, -1), 2)}, 1)
		if got := sizeOfRows(t, SampleByKey(nan, false, []Pair[float64, float64]{kv(-math.NaN(), 1.0), kv(0.0, 1.0)}, 1)); got != 2 {
			t.Errorf("%d rows", got)
		}
	})
	t.Run("errors", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		r := Parallelize(c, thirds(10), 2)
		for _, bad := range [][]Pair[string, float64]{{kv("a", -0.1)}, {kv("a", 1.1)}, {kv("a", 0.5), kv("a", 0.5)}} {
			_, err := SampleByKey(r, false, bad, 1).Collect(t.Context())
			wantBuildErr(t, err, "sampleByKey", ErrArgument)
			_, err = SampleByKeyExact(t.Context(), r, false, bad, 1)
			wantBuildErr(t, err, "sampleByKeyExact", ErrArgument)
		}
		_, err := SampleByKey(r, false, fractions[1:], 1).Collect(t.Context())
		wantErr(t, "a key without fraction", err, ErrArgument)
		wantUserErr(t, err, "sampleByKey", 0)
		_, err = SampleByKeyExact(t.Context(), r, false, fractions[1:], 1)
		wantErr(t, "a key without fraction", err, ErrArgument)
	})
}

func sizeOfRows[T any](t testing.TB, r *RDD[T]) int { return len(collect(t, r)) }

func TestSampleByKeyExact(t *testing.T) {
	fractions := []Pair[string, float64]{kv("a", 0.333), kv("b", 0.5), kv("c", 0.01), kv("none", 0.7)}
	for _, parts := range []int{1, 2, 7} {
		for _, replace := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d partitions, replace %t", parts, replace), func(t *testing.T) {
				c, _ := inlineContext(t, Options{})
				r := Parallelize(c, thirds(1007), parts)
				want := map[string]int{"a": int(math.Ceil(101 * 0.333)), "b": int(math.Ceil(202 * 0.5)), "c": int(math.Ceil(704 * 0.01))}
				times := make([]float64, 1007)
				const rounds = 300
				for seed := range uint64(rounds) {
					s := must(SampleByKeyExact(t.Context(), r, replace, fractions, seed))
					rows := collect(t, s)
					same(t, "counts", countOf(rows), want)
					if seed == 0 {
						same(t, "again", collect(t, s), rows)
					}
					for i, p := range rows {
						times[p.Value]++
						if !replace && i > 0 && rows[i-1].Value >= p.Value {
							t.Fatal("out of order or twice")
						}
					}
				}
				var early, late float64 // each record of b is as likely as the others
				for i, k := range times {
					if i%10 == 1 || i%10 == 2 {
						mean := rounds * 101.0 / 202
						inBounds(t, fmt.Sprint("record ", i), k, mean, math.Sqrt(mean))
						if i < 503 {
							early += k
						} else {
							late += k
						}
					}
				}
				inBounds(t, "first half of b", early, late, math.Sqrt(early+late))
			})
		}
	}
	t.Run("records that were not counted", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		grows := 0
		r := FlatMap(Parallelize(c, []Pair[string, int]{kv("a", 1)}, 1), func(p Pair[string, int]) []Pair[string, int] {
			grows++
			return slices.Repeat([]Pair[string, int]{p}, grows)
		})
		_, err := must(SampleByKeyExact(t.Context(), r, false, fractions, 1)).Collect(t.Context())
		wantErr(t, "grown", err, errRecount)
	})
}

func TestBinomial(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n int64
		p float64
	}{{0, 0.5}, {1, 0.3}, {20, 0.5}, {1000, 0.01}, {50, 0.9}, {7, 1}} {
		const rounds = 20_000
		mean, variance := float64(c.n)*c.p, float64(c.n)*c.p*(1-c.p)
		var sum, squares float64
		for range rounds {
			k := float64(binomial(random, c.n, c.p))
			sum += k
			squares += (k - mean) * (k - mean)
		}
		inBounds(t, fmt.Sprint("mean of ", c), sum/rounds, mean, math.Sqrt(variance/rounds))
		inBounds(t, fmt.Sprint("variance of ", c), squares/rounds, variance, math.Sqrt((2*variance*variance+variance)/rounds))
	}
}
