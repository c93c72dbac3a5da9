package oracle

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// checkRDDs compares the outputs of a plan over RDDs.
func (b *builder) checkRDDs(want [][]Batch) error {
	steps, err := b.rdds()
	if err != nil {
		return err
	}
	for _, o := range b.plan.Outputs {
		if err := b.checkRDD(b.plan.Steps[o], steps[o], want[o][1].Rows); err != nil {
			return fmt.Errorf("output %d: %w", o, err)
		}
	}
	return nil
}

func (b *builder) checkRDD(s Step, r rows, want []Row) error {
	got, err := b.twice(r)
	if err != nil {
		return err
	}
	if err := differ(got, want, s.ordered); err != nil {
		return err
	}
	a := actions()[(b.plan.Seed+uint64(s.Arg))%uint64(len(actions()))]
	have, should, err := a.check(b, r, got)
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	if err := differ(have, should, true); err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	return nil
}

// twice collects an RDD and compares with a second collection, which is computed again where nothing
// was kept: it has the same rows in the same order.
func (b *builder) twice(r rows) ([]Row, error) {
	first, err := r.Collect(b.ctx)
	if err != nil {
		return nil, err
	}
	if b.plan.Seed%3 == 0 {
		r.Unpersist()
	}
	again, err := r.Collect(b.ctx)
	if err != nil {
		return nil, fmt.Errorf("collected again: %w", err)
	}
	if err := differ(again, first, true); err != nil {
		return nil, fmt.Errorf("collected again: %w", err)
	}
	return first, nil
}

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

func actions() []action {
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
	}}}
}
