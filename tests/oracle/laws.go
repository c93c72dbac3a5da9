package oracle

import (
	"fmt"
	"math"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// within returns an error unless part is all in its order with some left out.
func within(part, all []Row) error {
	i := 0
	for n, r := range part {
		for i < len(all) && all[i] != r {
			i++
		}
		if i == len(all) {
			return fmt.Errorf("row %d of the part, %v, is not in the rows behind the one before it", n, r)
		}
		i++
	}
	return nil
}

// members returns an error unless every row of part is one of all.
func members(part, all []Row) error {
	there := set(all)
	for _, r := range part {
		if !there[r] {
			return fmt.Errorf("%v is none of the rows", r)
		}
	}
	return nil
}

func (b *builder) random() uint64 { return b.plan.Seed * 0x9e3779b9 }

// fractions returns a fraction for each key: none, all, half and a little.
func fractions(all []Row) []rdd.Pair[string, float64] {
	keys, _ := group(all)
	var of []rdd.Pair[string, float64]
	for i, k := range keys {
		of = append(of, rdd.Pair[string, float64]{Key: k, Value: []float64{0, 1, 0.5, 0.1}[i%4]})
	}
	return of
}

// laws are operators whose answers are free within limits: their rows are checked against those, and that the
// same seed gives them again.
func laws() []action {
	return []action{{"sample", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		got, err := r.Sample(false, 0.4, b.random()).Collect(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := within(got, all); err != nil {
			return nil, nil, err
		}
		again, err := r.Sample(false, 0.4, b.random()).Collect(b.ctx)
		return again, got, err
	}}, {"sampleWithReplacement", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		got, err := r.Sample(true, 1.5, b.random()).Collect(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := members(got, all); err != nil {
			return nil, nil, err
		}
		again, err := r.Sample(true, 1.5, b.random()).Collect(b.ctx)
		return again, got, err
	}}, {"randomSplit", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		var got []Row
		for _, part := range r.RandomSplit([]float64{1, 2, 0, 0.5}, b.random()) {
			dealt, err := part.Collect(b.ctx)
			if err != nil {
				return nil, nil, err
			}
			if err := within(dealt, all); err != nil {
				return nil, nil, err
			}
			got = append(got, dealt...)
		}
		return sorted(got), sorted(all), nil
	}}, {"sampleByKey", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		of := fractions(all)
		got, err := rdd.SampleByKey(r, false, of, b.random()).Collect(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := within(got, all); err != nil {
			return nil, nil, err
		}
		// Of two keys in four it is known what is left: nothing, and everything.
		known := map[string]bool{}
		whole := map[string]bool{}
		for _, f := range of {
			known[f.Key] = f.Value == 0 || f.Value == 1
			whole[f.Key] = f.Value == 1
		}
		return without(got, func(r Row) bool { return !known[r.Key] }), without(all, func(r Row) bool { return !whole[r.Key] }), nil
	}}, {"sampleByKeyExact", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		of := fractions(all)
		exact, err := rdd.SampleByKeyExact(b.ctx, r, false, of, b.random())
		if err != nil {
			return nil, nil, err
		}
		got, err := exact.Collect(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := within(got, all); err != nil {
			return nil, nil, err
		}
		_, values := group(all)
		_, left := group(got)
		var have, want []Row
		for _, f := range of {
			have = append(have, Row{Key: f.Key, Value: int64(len(left[f.Key]))})
			want = append(want, Row{Key: f.Key, Value: int64(math.Ceil(f.Value * float64(len(values[f.Key]))))})
		}
		return have, want, nil
	}}, {"takeSample", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n := int(b.plan.Seed % 9)
		got, err := rdd.TakeSample(b.ctx, r, false, n, b.random())
		if err != nil {
			return nil, nil, err
		}
		if err := within(sorted(got), sorted(all)); err != nil {
			return nil, nil, err
		}
		if len(got) != min(n, len(all)) {
			return nil, nil, fmt.Errorf("%d rows taken of %d, want %d", len(got), len(all), n)
		}
		again, err := rdd.TakeSample(b.ctx, r, false, n, b.random())
		return again, got, err
	}}, {"takeSampleWithReplacement", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		n := int(b.plan.Seed % 31)
		got, err := rdd.TakeSample(b.ctx, r, true, n, b.random())
		if err != nil {
			return nil, nil, err
		}
		if len(all) > 0 && len(got) != n {
			return nil, nil, fmt.Errorf("%d rows taken, want %d", len(got), n)
		}
		return nil, nil, members(got, all)
	}}, {"zipWithUniqueID", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		parts, err := rdd.ZipWithUniqueID(r).CollectPartitions(b.ctx)
		var got []Row
		for k, part := range parts {
			for j, p := range part {
				if want := int64(j*len(parts) + k); p.Value != want {
					return nil, nil, fmt.Errorf("row %d of partition %d has number %d, want %d", j, k, p.Value, want)
				}
				got = append(got, p.Key)
			}
		}
		return got, all, err
	}}, {"prunePartitions", func(b *builder, r rows, _ []Row) ([]Row, []Row, error) {
		parts, err := r.CollectPartitions(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		var want []Row
		for i := 0; i < len(parts); i += 2 {
			want = append(want, parts[i]...)
		}
		got, err := r.PrunePartitions(func(part int) bool { return part%2 == 0 }).Collect(b.ctx)
		return got, want, err
	}}, {"countPartitions", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		parts, err := r.CollectPartitions(b.ctx)
		if err != nil {
			return nil, nil, err
		}
		counts, err := rdd.CountPartitions(r).Collect(b.ctx)
		var got, want []Row
		for _, p := range parts {
			want = append(want, onlyValue(int64(len(p))))
		}
		for _, n := range counts {
			got = append(got, onlyValue(n))
		}
		return got, want, err
	}}, {"savedTwice", func(b *builder, r rows, all []Row) ([]Row, []Row, error) {
		// What was saved is what was collected, also over a folder that is there.
		dir := b.folder()
		if err := r.SaveAsObjectFile(b.ctx, dir); err != nil {
			return nil, nil, err
		}
		if err := r.SaveAsObjectFile(b.ctx, dir, rdd.Overwrite(), rdd.Compress(rdd.Zstd)); err != nil {
			return nil, nil, err
		}
		got, err := rdd.ObjectFile[Row](b.c, dir).Collect(b.ctx)
		return slices.Clip(got), all, err
	}}}
}
