package rdd

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/leat-io/leat/lineage"
)

// onInline runs a test on both inline runners, which report what tasks add.
func onInline(t *testing.T, opts Options, test func(t *testing.T, c *Context, r *inlineRunner)) {
	t.Helper()
	for name, isolate := range map[string]bool{"inline": false, "inline-isolate": true} {
		t.Run(name, func(t *testing.T) {
			r := newInlineRunner(isolate)
			test(t, newTestContext(t, r, opts), r)
		})
	}
}

// counting adds 1 to a for each record.
func counting(r *RDD[int], a *LongAccumulator) *RDD[int] {
	return MapWith(r, func(ctx context.Context, _ int) (func(int) int, error) {
		local, err := a.Local(ctx)
		return func(x int) int { local.Add(1); return x }, err
	})
}

func TestAccumulator_A1_A4(t *testing.T) {
	onInline(t, Options{}, func(t *testing.T, c *Context, _ *inlineRunner) {
		rows := must(NewLongAccumulator(c, "rows"))
		half := must(NewDoubleAccumulator(c, ""))
		seen := must(NewCollectionAccumulator[string](c, "seen"))
		longest := must(NewAccumulator(c, "longest", func() string { return "" }, longer, longer))
		if rows.Name() != "rows" {
			t.Errorf("name %q", rows.Name())
		}
		r := Parallelize(c, []string{"a", "bcd", "ef"}, 2)
		err := r.ForeachPartition(t.Context(), func(ctx context.Context, part int, in iter.Seq[string]) error {
			if _, err := rows.Value(ctx); !errors.Is(err, ErrInTask) {
				t.Errorf("A1 total inside a task: %v", err)
			}
			local, err := seen.Local(ctx)
			if err != nil {
				return err
			}
			for s := range in {
				local.Add(s)
				if err := errors.Join(rows.Add(ctx, 2), half.Add(ctx, 0.5), longest.Add(ctx, s)); err != nil {
					return err
				}
			}
			if part == 1 {
				same(t, "A1 the task's own part", local.Value(), []string{"bcd", "ef"})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		total := must(rows.Value(t.Context()))
		same(t, "sum and count", total, Tally[int64]{Sum: 6, Count: 3})
		same(t, "averages", []float64{total.Average(), must(half.Value(t.Context())).Average(), Tally[int64]{}.Average()}, []float64{2, 0.5, 0})
		all := must(seen.Value(t.Context()))
		same(t, "collected", all, []string{"a", "bcd", "ef"})
		all[0] = "changed"
		same(t, "the total is copied", must(seen.Value(t.Context()))[0], "a")
		same(t, "custom", must(longest.Value(t.Context())), "bcd")
		if err := rows.Add(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		same(t, "added by the program", must(rows.Value(t.Context())).Sum, int64(10))
		_, err = rows.Local(t.Context())
		wantErr(t, "local outside of tasks", err, ErrNotInTask)
		rows.Reset()
		same(t, "reset", must(rows.Value(t.Context())), Tally[int64]{})
	})
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

func TestAccumulatorCountsWhatReallyRan_A2_C40(t *testing.T) {
	onInline(t, Options{}, func(t *testing.T, c *Context, runner *inlineRunner) {
		a := must(NewLongAccumulator(c, ""))
		sum := func() int64 { return must(a.Value(t.Context())).Sum }
		r := counting(Parallelize(c, upTo(2), 2), a)
		collect(t, r)
		same(t, "C40 a row in each of 2 partitions", sum(), int64(2))
		r.Cache()
		collect(t, r)
		collect(t, r)
		same(t, "a kept partition counts once more", sum(), int64(4))
		a.Reset()
		placed := counting(Parallelize(c, upTo(3), 3), a).Repartition(2)
		collect(t, placed)
		collect(t, placed)
		same(t, "map tasks count when they run", sum(), int64(3))
		runner.Drop(lineage.Drop{Scopes: []lineage.Scope{{}}})
		collect(t, placed)
		same(t, "map tasks that run again count again", sum(), int64(6))
		a.Reset()
		failed := Map(counting(Parallelize(c, upTo(2), 1), a), func(int) int { panic("boom") })
		if _, err := failed.Count(t.Context()); err == nil || sum() != 0 {
			t.Errorf("a failed task added %d: %v", sum(), err)
		}
	})
}

func TestAccumulatorUpdatesThatCannotBeMerged_A3(t *testing.T) {
	var log bytes.Buffer
	onInline(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(t *testing.T, c *Context, _ *inlineRunner) {
		log.Reset()
		bad := must(NewAccumulator(c, "bad", func() int { return 0 }, add[int], func(int, int) int { panic("boom") }))
		good := must(NewLongAccumulator(c, "good"))
		r := Parallelize(c, upTo(2), 2)
		err := r.ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error {
			return errors.Join(bad.Add(ctx, 1), good.Add(ctx, 1))
		})
		if err != nil || must(good.Value(t.Context())).Sum != 2 {
			t.Errorf("the job and the other accumulator: %v", err)
		}
		if s := log.String(); strings.Count(s, "name=bad") != 2 || !strings.Contains(s, "boom") {
			t.Errorf("log %q", s)
		}
		c.update(lineage.Update{ID: good.total.spec.ID, Data: []byte("junk")})
		c.update(lineage.Update{ID: good.total.spec.ID, Value: 7})
		c.update(lineage.Update{ID: 99, Data: []byte("of one that is gone")})
		if s := log.String(); strings.Count(s, "name=") != 4 || must(good.Value(t.Context())).Sum != 2 {
			t.Errorf("damaged updates: log %q", s)
		}
	})
}

func TestAMergeThatEndsItsGoroutineLeavesTheRunner(t *testing.T) {
	var log bytes.Buffer
	c, _ := inlineContext(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	a := must(NewAccumulator(c, "odd", func() int { return 0 }, add[int], func(int, int) int { runtime.Goexit(); return 0 }))
	err := Parallelize(c, upTo(1), 1).ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error {
		return a.Add(ctx, 1)
	})
	if err != nil || !strings.Contains(log.String(), "goroutine") || must(a.Value(t.Context())) != 0 {
		t.Errorf("%v, log %q", err, log.String())
	}
}

func TestAccumulatorIsRefused_A4(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	a := must(NewLongAccumulator(c, "of c"))
	other, _ := inlineContext(t, Options{})
	_, err := counting(Parallelize(other, upTo(1), 1), a).Collect(t.Context())
	wantErr(t, "in another context's job", err, ErrDifferentContexts)
	_, err = counting(Parallelize(other, upTo(1), 1).In(other), a).Repartition(1).Collect(t.Context())
	wantErr(t, "in its map tasks", err, ErrDifferentContexts)
	_, err = NewAccumulator[int, int](c, "", nil, nil, nil)
	wantErr(t, "nil", err, ErrNilFunction)
	c.Stop()
	_, err = NewLongAccumulator(c, "")
	wantErr(t, "after Stop", err, ErrStopped)
}

// The cost of adding in a loop, beside a plain sum.
func BenchmarkAccumulator(b *testing.B) {
	c, _ := inlineContext(b, Options{})
	a := must(NewLongAccumulator(c, ""))
	t := newTask(b.Context(), &inlineEnv{})
	t.home = c.shared
	const records = 4096
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
	}
	b.Run("plain", func(b *testing.B) {
		var sum Tally[int64]
		for b.Loop() {
			for i := range int64(records) {
				sum.Sum += i
				sum.Count++
			}
		}
		report(b)
	})
	b.Run("local", func(b *testing.B) {
		local := must(a.Local(t.ctx))
		for b.Loop() {
			for i := range int64(records) {
				local.Add(i)
			}
		}
		report(b)
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			for i := range int64(records) {
				if err := a.Add(t.ctx, i); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b)
	})
}
