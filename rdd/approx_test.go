package rdd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/rdd/keyed"
	"github.com/leat-io/leat/rdd/sketch"
)

func TestCountApproxDistinct(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", parts), func(t *testing.T) {
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				// Neighbouring integers hash to themselves; every one is there three times.
				r := Map(Parallelize(c, upTo(30_000), parts), func(x int) int { return x % 10_000 })
				got := must(CountApproxDistinct(t.Context(), r, 0.01))
				inBounds(t, "distinct", float64(got), 10_000, 10_000*0.01/2)
				few := Map(r, func(x int) string { return fmt.Sprint(x % 100) })
				if got := must(CountApproxDistinctPrecision(t.Context(), few, 12, 25)); got != 100 {
					t.Errorf("%d of 100", got)
				}
			})
		})
	}
	c, _ := inlineContext(t, Options{})
	if got := must(CountApproxDistinct(t.Context(), Empty[int](c), 0.1)); got != 0 {
		t.Errorf("%d of nothing", got)
	}
	nan := Parallelize(c, []float64{math.NaN(), -math.NaN(), 0, math.Copysign(0, -1)}, 2)
	if got := must(CountApproxDistinct(t.Context(), nan, 0.01)); got != 2 {
		t.Errorf("G3 %d of NaN and zero", got)
	}
	_, err := CountApproxDistinct(t.Context(), nan, 0.000017)
	wantBuildErr(t, err, "countApproxDistinct", sketch.ErrPrecision)
	_, err = CountApproxDistinctPrecision(t.Context(), nan, 5, 4)
	wantBuildErr(t, err, "countApproxDistinct", sketch.ErrPrecision)
	_, err = CountApproxDistinct(t.Context(), Parallelize(c, []any{1, &c}, 1), 0.1)
	wantErr(t, "G5", err, keyed.ErrBadKeyType)
}

func TestCountApproxDistinctByKey(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", parts), func(t *testing.T) {
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				r := Map(Parallelize(c, upTo(20_000), parts), func(x int) Pair[string, int] {
					if x%4 == 0 {
						return kv("few", x%5)
					}
					return kv("many", x/2)
				})
				got := collect(t, CountApproxDistinctByKey(r, 0.02, NumPartitions(3)))
				if len(got) != 2 {
					t.Fatalf("keys %v", got)
				}
				for _, p := range got {
					if p.Key == "few" && p.Value != 5 {
						t.Errorf("%v, want 5", p)
					} else if p.Key == "many" {
						inBounds(t, "many", float64(p.Value), 10_000, 10_000*0.02/2)
					}
				}
				placed := PartitionBy(r, Hash[string](2))
				same(t, "no shuffle where the keys lie", CountApproxDistinctByKey(placed, 0.1).Partitioner().Equal(Hash[string](2)), true)
			})
		})
	}
	c, _ := inlineContext(t, Options{})
	_, err := CountApproxDistinctByKey(Parallelize(c, []Pair[int, int]{}, 1), 0).Collect(t.Context())
	wantBuildErr(t, err, "countApproxDistinctByKey", sketch.ErrPrecision)
	_, err = CountApproxDistinctByKeyPrecision(Parallelize(c, []Pair[int, int]{}, 1), 3, 0).Collect(t.Context())
	wantBuildErr(t, err, "countApproxDistinctByKey", sketch.ErrPrecision)
}

func TestStudentQuantile(t *testing.T) {
	// From printed tables of the two-sided quantiles.
	for _, c := range []struct{ p, freedom, want float64 }{
		{0.05, 1, 12.7062}, {0.05, 2, 4.3027}, {0.05, 3, 3.1824}, {0.05, 5, 2.5706}, {0.05, 10, 2.2281}, {0.05, 30, 2.0423},
		{0.05, 1e6, 1.95996}, {0.01, 3, 5.8409}, {0.01, 20, 2.8453}, {0.5, 4, 0.7407}, {0.2, 8, 1.3968}, {0.001, 15, 4.0728},
	} {
		if got := studentQuantile(c.p, c.freedom); math.Abs(got-c.want) > 2e-4*c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.p, c.freedom, got, c.want)
		}
	}
}

// Of 2,000 samples of partitions about 95 of 100 intervals hold the truth.
func TestEstimatesHoldTheTruthAsOftenAsTheySay(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const parts, done, rounds = 60, 20, 2000
	var held, meanHeld int
	var bias float64
	for range rounds {
		all := make([]sumCount, parts)
		var sum, count float64
		for i := range all {
			n := 50 + random.IntN(100)
			all[i] = sumCount{Sum: float64(n)*3 + 20*random.NormFloat64(), Count: int64(n)}
			sum += all[i].Sum
			count += float64(n)
		}
		var totals Statistics
		for _, s := range all[:done] {
			totals = totals.with(s.Sum)
		}
		e := clusterTotal(totals, parts, 0.95)
		if e.Low <= sum && sum <= e.High {
			held++
		}
		bias += (e.Value - sum) / sum / rounds
		if e := ratio(all[:done], parts, 0.95); e.Low <= sum/count && sum/count <= e.High {
			meanHeld++
		}
	}
	inBounds(t, "totals held", float64(held), rounds*0.95, math.Sqrt(rounds*0.95*0.05))
	inBounds(t, "means held", float64(meanHeld), rounds*0.95, 1.5*math.Sqrt(rounds*0.95*0.05))
	inBounds(t, "bias", bias, 0, 0.1/math.Sqrt(rounds))
}

func TestApproxActionsAreFinalWhenAllTasksEnd(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, parts := range []int{1, 2, 7} {
			r := Parallelize(c, []int{3, 1, 3, 2, 3}, parts)
			same(t, "count", must(CountApprox(t.Context(), r, time.Minute, 0.9)), exactly(5))
			same(t, "sum", must(SumApprox(t.Context(), r, time.Minute, 0.9)), exactly(12))
			same(t, "mean", must(MeanApprox(t.Context(), r, time.Minute, 0.9)), exactly(2.4))
			same(t, "by value", must(CountByValueApprox(t.Context(), r, time.Minute, 0.9)),
				[]Pair[int, Estimate]{kv(3, exactly(3)), kv(1, exactly(1)), kv(2, exactly(1))})
		}
		none := Empty[int](c)
		same(t, "count of nothing", must(CountApprox(t.Context(), none, 0, 0.9)), exactly(0))
		same(t, "sum of nothing", must(SumApprox(t.Context(), none, time.Minute, 0.9)), exactly(0))
		same(t, "mean of nothing", must(MeanApprox(t.Context(), none, time.Minute, 0.9)), exactly(0))
		same(t, "values of nothing", must(CountByValueApprox(t.Context(), none, time.Minute, 0.9)), []Pair[int, Estimate]{})
	})
}

// stuck are the records 1 to 40 in 8 partitions, of which those from 5 on wait until the test ends.
func stuck(t *testing.T, c *Context) *RDD[int] {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	return Map(Parallelize(c, upTo(40), 8), func(x int) int {
		if x > 25 {
			<-release
		}
		return x
	})
}

func TestApproxActionsAnswerWhenTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestContext(t, newLocalRunner(t, 8, false), Options{})
		r := stuck(t, c)
		began := time.Now()
		count := must(CountApprox(t.Context(), r, time.Second, 0.95))
		if took := time.Since(began); took != time.Second {
			t.Errorf("answered after %v", took)
		}
		same(t, "count", count, Estimate{Value: 40, Low: 40, High: 40, Confidence: 0.95})
	})
	synctest.Test(t, func(t *testing.T) {
		c := newTestContext(t, newLocalRunner(t, 8, false), Options{})
		sum := must(SumApprox(t.Context(), stuck(t, c), time.Second, 0.95))
		// Partition sums 15, 40, 65, 90, 115: mean 65, variance 1562.5; 8 partitions, 4 degrees of freedom.
		half := 8 * math.Sqrt(3.0/8*1562.5/5) * 2.776445
		if sum.Final || sum.Value != 520 || math.Abs(sum.High-520-half) > 1e-4*half || !nearly(sum.Low, 1040-sum.High) {
			t.Errorf("sum %v, want 520 within %v", sum, half)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newTestContext(t, newLocalRunner(t, 8, false), Options{})
		if mean := must(MeanApprox(t.Context(), stuck(t, c), time.Second, 0.95)); mean.Value != 13 || mean.Final || mean.Low >= 13 || mean.High <= 13 {
			t.Errorf("mean %v", mean)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newTestContext(t, newLocalRunner(t, 8, false), Options{})
		odd := Map(stuck(t, c), func(x int) string { return []string{"even", "odd"}[x%2] })
		got := must(CountByValueApprox(t.Context(), odd, time.Second, 0.95))
		if len(got) != 2 || got[0].Key != "odd" || got[0].Value.Value != 13*8/5.0 || got[1].Value.Value != 12*8/5.0 ||
			got[0].Value.Low < 13 || got[0].Value.Final || got[0].Value.High < got[0].Value.Value {
			t.Errorf("%v", got)
		}
	})
}

func TestApproxActionErrors(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	r := Parallelize(c, upTo(4), 2)
	for _, bad := range []struct {
		timeout    time.Duration
		confidence float64
	}{{-1, 0.9}, {1, 0}, {1, 1}, {1, math.NaN()}} {
		_, err := CountApprox(t.Context(), r, bad.timeout, bad.confidence)
		wantBuildErr(t, err, "countApprox", ErrArgument)
	}
	if jobs := runner.ran(); len(jobs) > 0 {
		t.Errorf("jobs %v", jobs)
	}
	// With no time at all nothing is known.
	nothing := must(CountApprox(t.Context(), r, 0, 0.9))
	if nothing.Final || nothing.Value != 0 || nothing.Low != 0 || !math.IsInf(nothing.High, 1) {
		t.Errorf("%v", nothing)
	}
	_, err := SumApprox(t.Context(), TryMap(r, func(int) (int, error) { return 0, errOdd }), time.Minute, 0.9)
	wantErr(t, "a failed task", err, errOdd)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeanApprox(stopped, r, time.Minute, 0.9); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller's end: %v", err)
	}
	_, err = CountByValueApprox(t.Context(), Parallelize(c, []any{&c}, 1), time.Minute, 0.9)
	wantErr(t, "G5", err, keyed.ErrBadKeyType)
}

func TestFutures(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, parts := range []int{1, 2, 7} {
			r := Parallelize(c, upTo(9), parts)
			rows, count, some := CollectAsync(t.Context(), r), CountAsync(t.Context(), r), TakeAsync(t.Context(), r, 4)
			same(t, "collect", must(rows.Wait(t.Context())), upTo(9))
			same(t, "count", must(count.Wait(t.Context())), 9)
			same(t, "take", must(some.Wait(t.Context())), upTo(4))
			<-count.Done()
			count.Cancel()
			same(t, "count again", must(count.Wait(t.Context())), 9)
			seen := make(chan int, 9)
			must(ForeachAsync(t.Context(), r, func(x int) { seen <- x }).Wait(t.Context()))
			close(seen)
			same(t, "foreach", len(seen), 9)
		}
		_, err := ForeachAsync[int](t.Context(), Parallelize(c, upTo(2), 1), nil).Wait(t.Context())
		wantBuildErr(t, err, "foreach", ErrNilFunction)
		_, err = CollectAsync(t.Context(), TryMap(Parallelize(c, upTo(2), 1), func(int) (int, error) { return 0, errOdd })).Wait(t.Context())
		if err == nil {
			t.Error("a failed task is no error")
		}
	})
}

func TestFutureCancelEndsItsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(heard)
		c := newTestContext(t, newLocalRunner(t, 1, false, h.listener()), Options{})
		release := make(chan struct{})
		slow := Map(Parallelize(c, upTo(20), 20), func(x int) int { <-release; return x })
		f := CountAsync(t.Context(), slow)
		synctest.Wait()
		impatient, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOdd)
		defer cancel()
		_, err := f.Wait(impatient)
		wantErr(t, "the waiter's end", err, errOdd)
		f.Cancel()
		f.Cancel()
		_, err = f.Wait(t.Context())
		wantErr(t, "cancelled", err, context.Canceled)
		close(release)
		synctest.Wait()
		if _, tasks := h.take(); tasks > 2 {
			t.Errorf("%d tasks ran to their end after Cancel", tasks)
		}
		started, end := context.WithCancel(t.Context())
		end()
		_, err = TakeAsync(started, slow, 1).Wait(t.Context())
		wantErr(t, "an ended context", err, context.Canceled)
	})
}

func TestToLocalIteratorAhead(t *testing.T) {
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			r := Parallelize(c, upTo(20), parts)
			var all []int
			for x, err := range ToLocalIteratorAhead(t.Context(), r) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, x)
			}
			same(t, "rows", all, upTo(20))
			for x := range ToLocalIteratorAhead(t.Context(), r) {
				if x == 3 {
					break
				}
			}
			for range ToLocalIteratorAhead(t.Context(), Empty[int](c)) {
				t.Error("a record of nothing")
			}
			var errs []error
			bad := TryMap(r, func(x int) (int, error) {
				if x == 20 {
					return 0, errOdd
				}
				return x, nil
			})
			for _, err := range ToLocalIteratorAhead(t.Context(), bad) {
				if err != nil {
					errs = append(errs, err)
				}
			}
			if len(errs) != 1 {
				t.Errorf("errors %v, want one", errs)
			}
		})
	}
	c, runner := inlineContext(t, Options{})
	for x := range ToLocalIteratorAhead(t.Context(), Parallelize(c, upTo(100), 10)) {
		if x == 15 { // at the second partition the third is on its way, no more
			break
		}
	}
	parts := slices.Concat(partsOfJobs(runner)...)
	if len(parts) > 3 || !slices.Equal(parts, []int{0, 1, 2}[:len(parts)]) {
		t.Errorf("jobs on %v", parts)
	}
}
