package oracle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// An action is checked against the rows as collected: it returns its answer and the right one, as rows.
type action struct {
	name  string
	check func(b *builder, r rows, all []Row) (have, want []Row, err error)
}

func sum(all []Row) int64 {
	var n int64
	for _, r := range all {
		n += r.Value
	}
	return n
}

// addRow adds rows up: associative, commutative and with a neutral row.
func addRow(a, b Row) Row { return Row{Key: max(a.Key, b.Key), Value: a.Value + b.Value} }

func addAll(all []Row) []Row {
	var x Row
	for _, r := range all {
		x = addRow(x, r)
	}
	return one(x)
}

// actions are all there are.
func actions() []action {
	return slices.Concat(plainActions(), numberActions(), countedActions(), laws())
}

// plainActions are the actions that have one answer.
func plainActions() []action {
	return []action{{"count", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n, err := r.Count(b.ctx)
		return one(onlyValue(n)), one(onlyValue(int64(len(all)))), err
	}}, {"reduce", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		if len(all) == 0 {
			empty, err := r.IsEmpty(b.ctx)
			return one(Row{Key: fmt.Sprint(empty)}), one(Row{Key: "true"}), err
		}
		x, err := r.Reduce(b.ctx, addRow)
		return one(x), addAll(all), err
	}}, {"fold", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		x, err := r.Fold(b.ctx, Row{}, addRow)
		return one(x), addAll(all), err
	}}, {"aggregate", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n, err := rdd.Aggregate(b.ctx, r, 0, func(n int64, r Row) int64 { b.tick(); return n + r.Value }, combiner(0))
		return one(onlyValue(n)), one(onlyValue(sum(all))), err
	}}, {"treeAggregate", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n, err := rdd.TreeAggregate(b.ctx, r, 0, func(n int64, r Row) int64 { b.tick(); return n + r.Value }, combiner(0), 3)
		return one(onlyValue(n)), one(onlyValue(sum(all))), err
	}}, {"take", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n := int(b.plan.Seed % 20)
		got, err := r.Take(b.ctx, n)
		return got, all[:min(n, len(all))], err
	}}, {"takeOrdered", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		got, err := rdd.TakeOrderedFunc(b.ctx, r, 7, compareRows)
		return got, sorted(all)[:min(7, len(all))], err
	}}, {"top", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		got, err := rdd.TopFunc(b.ctx, r, 7, compareRows)
		down := sorted(all)
		slices.Reverse(down)
		return got, down[:min(7, len(all))], err
	}}, {"countByValue", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		counts, err := rdd.CountByValue(b.ctx, r)
		var got []Row
		for _, c := range counts {
			for range c.Value {
				got = append(got, c.Key)
			}
		}
		return sorted(got), sorted(all), err
	}}, {"toLocalIterator", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		var got []Row
		for x, err := range r.ToLocalIterator(b.ctx) {
			if err != nil {
				return nil, nil, err
			}
			got = append(got, x)
		}
		return got, all, nil
	}}, {"lookup", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		values, err := rdd.Lookup(b.ctx, r, "b")
		var got []Row
		for _, v := range values {
			got = append(got, Row{Key: "b", Value: v})
		}
		return got, without(all, func(r Row) bool { return r.Key != "b" }), err
	}}, {"collectPartitions", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		parts, err := r.CollectPartitions(b.ctx)
		return slices.Concat(parts...), all, err
	}}, {"foldAsync", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n, err := rdd.CountAsync(b.ctx, r).Wait(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		got, err := rdd.CollectAsync(b.ctx, r).Wait(b.ctx)
		return append(got, onlyValue(n)), append(slices.Clone(all), onlyValue(int64(len(all)))), err
	}}, {"treeReduce", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		x, err := rdd.TreeReduce(b.ctx, r, func(x, y Row) Row { b.tick(); return addRow(x, y) }, 2)
		if len(all) == 0 && errors.Is(err, rdd.ErrEmpty) {
			return nil, nil, nil
		}
		return one(x), addAll(all), err
	}}, {"first", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		x, err := r.First(b.ctx)
		if len(all) == 0 && errors.Is(err, rdd.ErrEmpty) {
			return nil, nil, nil
		}
		return one(x), all[:min(1, len(all))], err
	}}, {"minAndMax", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		least, err := rdd.MinFunc(b.ctx, r, compareRows)
		if len(all) == 0 && errors.Is(err, rdd.ErrEmpty) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		most, err := rdd.MaxFunc(b.ctx, r, compareRows)
		return []Row{least, most}, []Row{slices.MinFunc(all, compareRows), slices.MaxFunc(all, compareRows)}, err
	}}, {"countByKey", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		counts, err := rdd.CountByKey(b.ctx, r)
		return sorted(counts), perKey(all, func(v []int64) int64 { return int64(len(v)) }), err
	}}, {"collectAsMap", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		pairs, err := rdd.CollectAsMap(b.ctx, r)
		return sorted(pairs), perKey(all, func(v []int64) int64 { return v[len(v)-1] }), err
	}}, {"reduceByKeyLocally", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		pairs, err := rdd.ReduceByKeyLocally(b.ctx, r, b.ticking(combiner(0)))
		if len(all) == 0 && errors.Is(err, rdd.ErrEmpty) {
			return nil, nil, nil
		}
		return sorted(pairs), perKey(all, reduced(combiner(0))), err
	}}, {"toLocalIteratorAhead", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		var got []Row
		for x, err := range rdd.ToLocalIteratorAhead(b.ctx, r) {
			if err != nil {
				return nil, nil, err
			}
			got = append(got, x)
		}
		return got, all, nil
	}}, {"runJob", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		parts, err := r.NumPartitions()
		if err != nil {
			return nil, nil, err
		}
		counts := make([]int64, parts)
		times := int64(0)
		err = rdd.RunJob(b.ctx, r, allOf(parts), func(_ context.Context, _ int, rows iter.Seq[Row]) (int64, error) {
			n := int64(0)
			for range rows {
				n++
			}
			return n, nil
		}, func(i int, n int64) error { counts[i] = n; times++; return nil })
		n := int64(0)
		for _, c := range counts {
			n += c
		}
		return []Row{onlyValue(n), onlyValue(times)}, []Row{onlyValue(int64(len(all))), onlyValue(int64(parts))}, err
	}}}
}

func allOf(parts int) []int {
	all := make([]int, parts)
	for i := range all {
		all[i] = i
	}
	return all
}
