package oracle

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/leat-io/leat/rdd"
)

// few keeps values where sums of their squares are exact.
func few(v int64) int64 { return v % 1000 }

func (b *builder) numbers(r rows) *rdd.RDD[int64] {
	return rdd.Map(r, func(x Row) int64 { b.tick(); return few(x.Value) })
}

// near is 1 for numbers that are equal but for rounding.
func near(got, want float64) Row {
	if got == want || math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) || math.IsNaN(got) && math.IsNaN(want) {
		return onlyValue(1)
	}
	return Row{Key: "far", Value: int64(got*1000) - int64(want*1000)}
}

// numberActions are the actions over numbers.
func numberActions() []action {
	return []action{{"stats", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		s, err := rdd.Stats(b.ctx, b.numbers(r))
		n, sum, squares := float64(len(all)), 0.0, 0.0
		for _, x := range all {
			sum += float64(few(x.Value))
		}
		for _, x := range all {
			d := float64(few(x.Value)) - sum/n
			squares += d * d
		}
		if len(all) == 0 {
			return one(onlyValue(s.Count)), one(onlyValue(0)), err
		}
		return []Row{onlyValue(s.Count), near(s.Mean, sum/n), near(s.Variance(), squares/n)},
			[]Row{onlyValue(int64(n)), onlyValue(1), onlyValue(1)}, err
	}}, {"sum", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n, err := rdd.Sum(b.ctx, b.numbers(r))
		if err != nil {
			return nil, nil, err
		}
		mean, err := rdd.Mean(b.ctx, b.numbers(r))
		want := int64(0)
		for _, x := range all {
			want += few(x.Value)
		}
		return []Row{onlyValue(n), near(mean, float64(want)/float64(max(len(all), 1)))}, []Row{onlyValue(want), onlyValue(1)}, err
	}}, {"histogram", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		edges := []float64{-1000, -10, 0, 7, 50, 999}
		counts, err := rdd.Histogram(b.ctx, b.numbers(r), edges)
		want := make([]Row, len(edges)-1)
		for i := range want {
			want[i] = onlyValue(0)
			for _, x := range all {
				if v := float64(few(x.Value)); v >= edges[i] && (v < edges[i+1] || i == len(want)-1 && v == edges[i+1]) {
					want[i].Value++
				}
			}
		}
		var got []Row
		for _, n := range counts {
			got = append(got, onlyValue(n))
		}
		return got, want, err
	}}, {"histogramBuckets", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		edges, counts, err := rdd.HistogramBuckets(b.ctx, b.numbers(r), 4)
		if len(all) == 0 && errors.Is(err, rdd.ErrEmpty) {
			return nil, nil, nil
		}
		n := int64(0)
		for _, c := range counts {
			n += c
		}
		if err == nil && len(edges) != len(counts)+1 {
			err = errors.New("edges and counts do not fit")
		}
		return one(onlyValue(n)), one(onlyValue(int64(len(all)))), err
	}}, {"topNumbers", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		most, err := rdd.Top(b.ctx, b.numbers(r), 5)
		if err != nil {
			return nil, nil, err
		}
		least, err := rdd.TakeOrdered(b.ctx, b.numbers(r), 5)
		var got, want, values []Row
		for _, v := range append(most, least...) {
			got = append(got, onlyValue(v))
		}
		for _, x := range all {
			values = append(values, onlyValue(few(x.Value)))
		}
		values = sorted(values)
		for i := range min(5, len(values)) {
			want = append(want, values[len(values)-1-i])
		}
		return got, append(want, values[:min(5, len(values))]...), err
	}}}
}

// countedActions have tasks of the result stage add to accumulators, whose totals are exact whatever befalls the
// tasks.
func countedActions() []action {
	return []action{{"accumulator/A2", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		total, err := rdd.NewLongAccumulator(b.c, "rows")
		if err != nil {
			return nil, nil, err
		}
		counting := rdd.MapWith(r, func(ctx context.Context, _ int) (func(Row) Row, error) {
			part, err := total.Local(ctx)
			return func(x Row) Row { b.tick(); part.Add(x.Value); return x }, err
		})
		got, err := counting.Collect(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		t, err := total.Value(b.ctx)
		return append(got, Row{Key: "total", Value: t.Sum}, onlyValue(t.Count)),
			append(all[:len(all):len(all)], Row{Key: "total", Value: sum(all)}, onlyValue(int64(len(all)))), err
	}}, {"foreachPartition/A2", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		seen, err := rdd.NewCollectionAccumulator[Row](b.c, "seen")
		if err != nil {
			return nil, nil, err
		}
		err = r.ForeachPartition(b.ctx, func(ctx context.Context, _ int, rows iter.Seq[Row]) error {
			for x := range rows {
				b.tick()
				if err := seen.Add(ctx, x); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		got, err := seen.Value(b.ctx)
		return sorted(got), sorted(all), err
	}}}
}
