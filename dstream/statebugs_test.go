package dstream_test

import (
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// laidOut is an input whose batches have the partitions given, none at all too.
type laidOut [][][]letter

func (in laidOut) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[letter], error) {
	return rdd.FromBlocks(c, in[int64(t)/1000-1]), nil
}

// sumsOf declares the running sums of a stream, by UpdateStateByKey and by MapWithState.
func sumsOf(s *dstream.DStream[letter], parts int) (updated, mapped *dstream.DStream[letter]) {
	updated = dstream.UpdateStateByKey(s, func(values []int, old rdd.Option[int]) rdd.Option[int] {
		for _, v := range values {
			old.Value += v
		}
		return rdd.Option[int]{Value: old.Value, OK: true}
	}, dstream.StatePartitioned(rdd.NumPartitions(parts)))
	return updated, dstream.MapWithState(s, dstream.NewStateSpec(counting).NumPartitions(parts)).StateSnapshots()
}

// A batch of one partition, or of none, has a state as any other: the next one finds it.
func TestStateOfBatchesWithoutPartitions(t *testing.T) {
	for _, c := range []struct {
		name string
		in   laidOut
	}{
		{"S-07/one_partition", laidOut{{{}}, {letters("ab")}, {{}}, {letters("b")}}},
		{"S-07/no_partition", laidOut{{}, {letters("ab")}, {}, {letters("b")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, parts := range []int{1, 3} {
				d := newDriver(t, setup{parallelism: 2})
				updated, mapped := sumsOf(dstream.NewInput(d.graph, "laid", "Laid out", c.in), parts)
				a, b := collect(updated), collect(mapped)
				d.run(4)
				equal(t, a.text(4), "-; a:1 b:1; a:1 b:1; a:1 b:2")
				equal(t, b.text(4), "-; a:1 b:1; a:1 b:1; a:1 b:2")
			}
		})
	}
}

// Below a union the tasks of the state's partitions have other numbers, which change as the other stream grows: the
// state lies where it lay.
func TestStateBelowAUnion(t *testing.T) {
	t.Run("S-06", func(t *testing.T) {
		d := newDriver(t, setup{parallelism: 2})
		other := dstream.NewInput(d.graph, "laid", "Laid out", laidOut{
			{letters("x"), letters("y")}, {letters("x"), letters("y"), letters("z"), {}}, {}, {letters("x")},
		})
		updated, mapped := sumsOf(input(d, letters("abcd"), letters("ad"), letters("bb"), letters("c")), 3)
		out := collect(dstream.Union(other, updated, mapped))
		parts := map[dstream.Time]int{}
		dstream.ForeachRDD(mapped, func(ctx ctx, r *rdd.RDD[letter], t dstream.Time) error {
			n, err := r.NumPartitions()
			parts[t] = n
			return err
		})
		d.run(4)
		equal(t, out.text(4), "a:1 a:1 b:1 b:1 c:1 c:1 d:1 d:1 x:1 y:1; a:2 a:2 b:1 b:1 c:1 c:1 d:2 d:2 x:1 y:1 z:1; "+
			"a:2 a:2 b:3 b:3 c:1 c:1 d:2 d:2; a:2 a:2 b:3 b:3 c:2 c:2 d:2 d:2 x:1")
		for k := 1; k <= 4; k++ {
			if n := parts[sec(k)]; n != 3 {
				t.Errorf("batch %d has %d partitions of state", k, n)
			}
		}
	})
}
