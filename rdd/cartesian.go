package rdd

import "github.com/leat-io/leat/lineage"

// Cartesian returns every pair of a record of a and a record of b.
//
// Shape: N(a) times N(b) partitions; partition i*N(b)+j pairs a's partition i with b's partition
// j, a's records outermost; no partitioner.
// Cost: narrow, no memory of its own; b's partition is computed anew for every record of a's, so
// cache b unless it is a source.
func Cartesian[T, U any](a *RDD[T], b *RDD[U]) *RDD[Pair[T, U]] {
	child := newNode[Pair[T, U]](a.ctx, "cartesian")
	child.inherit(a.err, b.err)
	child.count = func() (int, error) {
		n, err := a.NumPartitions()
		if err != nil {
			return 0, err
		}
		m, err := b.NumPartitions()
		return n * m, err
	}
	// split gives the partitions of a and b behind an output partition, both known by then.
	split := func(part int) (i, j int, err error) {
		m, err := b.NumPartitions()
		if err != nil || m == 0 {
			return 0, 0, err
		}
		return part / m, part % m, nil
	}
	child.setDeps([]lineage.Dep{
		{Parent: a.Node(), Narrow: func(part int) []int {
			i, _, err := split(part)
			if err != nil {
				return nil
			}
			return []int{i}
		}},
		{Parent: b.Node(), Narrow: func(part int) []int {
			_, j, err := split(part)
			if err != nil {
				return nil
			}
			return []int{j}
		}},
	})
	child.compute = func(t *task, part int, out sink[Pair[T, U]]) error {
		i, j, err := split(part)
		if err != nil {
			return err
		}
		var buf []Pair[T, U]
		return a.push(t, i, func(left []T) error {
			for _, x := range left {
				err := b.push(t, j, func(right []U) error {
					buf = room(buf, len(right))
					for k, y := range right {
						buf[k] = Pair[T, U]{Key: x, Value: y}
						if a.clone != nil {
							buf[k].Key = a.clone(x) // each pair is its receiver's to change
						}
					}
					return out(buf)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return child
}
