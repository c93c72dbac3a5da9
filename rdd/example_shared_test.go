package rdd_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

func ExampleTaskFrom() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []string{"a", "b", "c"}, 2)
	placed := rdd.MapWith(r, func(ctx context.Context, _ int) (func(string) string, error) {
		task, _ := rdd.TaskFrom(ctx)
		return func(s string) string { return fmt.Sprintf("%s:%d.%d", s, task.Partition, task.Number) }, nil
	})
	show(placed)
	_, ok := rdd.TaskFrom(context.Background())
	fmt.Println(ok)
	// Output:
	// [a:0.0 b:1.0 c:1.0] <nil>
	// false
}

func ExampleTaskContext_OnCompletion() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []string{"a"}, 1)
	err := r.ForeachPartition(context.Background(), func(ctx context.Context, _ int, rows iter.Seq[string]) error {
		task, _ := rdd.TaskFrom(ctx)
		task.OnCompletion(func() error { fmt.Println("close the connection"); return nil })
		task.OnCompletion(func() error { fmt.Println("end the transaction"); return nil })
		for s := range rows {
			fmt.Println("send", s)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// send a
	// end the transaction
	// close the connection
	// <nil>
}

func ExampleTaskContext_OnFailure() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []string{"a"}, 1)
	err := r.ForeachPartition(context.Background(), func(ctx context.Context, _ int, _ iter.Seq[string]) error {
		task, _ := rdd.TaskFrom(ctx)
		if task.Number > 0 {
			return nil
		}
		task.OnFailure(func(err error) { fmt.Println("roll back:", errors.Unwrap(err)) })
		return errors.New("no connection")
	})
	fmt.Println(err) // the second attempt succeeded
	// Output:
	// roll back: no connection
	// <nil>
}

func ExampleMapPartitionsWithContext() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []string{"a", "b", "c"}, 2)
	numbered := rdd.MapPartitionsWithContext(r, func(ctx context.Context, part int, in iter.Seq[string]) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for s := range in {
				if ctx.Err() != nil {
					yield("", ctx.Err())
					return
				}
				if !yield(fmt.Sprint(part, s), nil) {
					return
				}
			}
		}
	})
	show(numbered)
	// Output: [0a 1b 1c] <nil>
}

func ExampleMapWith() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	names, err := rdd.NewBroadcast(c, map[int]string{1: "one", 2: "two"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := rdd.Parallelize(c, []int{1, 2, 1}, 2)
	show(rdd.MapWith(r, func(ctx context.Context, _ int) (func(int) string, error) {
		table, err := names.Value(ctx)
		return func(x int) string { return table[x] }, err
	}))
	// Output: [one two one] <nil>
}

func ExampleFilterWith() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	stopList, err := rdd.NewBroadcast(c, map[string]bool{"the": true, "a": true})
	if err != nil {
		fmt.Println(err)
		return
	}
	words := rdd.Parallelize(c, []string{"the", "cat", "a", "dog"}, 2)
	show(rdd.FilterWith(words, func(ctx context.Context, _ int) (func(string) bool, error) {
		stopWords, err := stopList.Value(ctx)
		return func(w string) bool { return !stopWords[w] }, err
	}))
	// Output: [cat dog] <nil>
}

func ExampleFlatMapWith() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []string{"b", "ab"}, 2)
	show(rdd.FlatMapWith(r, func(_ context.Context, part int) (func(string, []string) []string, error) {
		return func(s string, out []string) []string { return append(out, s, strings.ToUpper(s)) }, nil
	}))
	// Output: [b B ab AB] <nil>
}

func ExampleNewBroadcast() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	table := []string{"zero", "one"}
	b, err := rdd.NewBroadcast(c, table)
	if err != nil {
		fmt.Println(err)
		return
	}
	table[0] = "changed" // tasks do not see it
	show(rdd.MapWith(rdd.Parallelize(c, []int{0, 1}, 1), func(ctx context.Context, _ int) (func(int) string, error) {
		table, err := b.Value(ctx)
		return func(x int) string { return table[x] }, err
	}))
	// Output: [zero one] <nil>
}

func ExampleBroadcast_Value() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	b, _ := rdd.NewBroadcast(c, "v1")
	fmt.Println(b.Value(context.Background()))
	// Output: v1 <nil>
}

func ExampleBroadcast_Unpersist() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	b, _ := rdd.NewBroadcast(c, "v1")
	b.Unpersist()
	fmt.Println(b.Value(context.Background())) // read again
	// Output: v1 <nil>
}

func ExampleBroadcast_Destroy() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	b, _ := rdd.NewBroadcast(c, "v1")
	b.Destroy()
	_, err := b.Value(context.Background())
	fmt.Println(errors.Is(err, rdd.ErrDestroyed))
	// Output: true
}

func ExampleNewAccumulator() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	longer := func(a, b string) string {
		if len(b) > len(a) {
			return b
		}
		return a
	}
	longest, _ := rdd.NewAccumulator(c, "longest", func() string { return "" }, longer, longer)
	fmt.Println(longest.Add(context.Background(), "word"), longest.Name())
	fmt.Println(longest.Value(context.Background()))
	// Output:
	// <nil> longest
	// word <nil>
}

func ExampleNewLongAccumulator() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	ctx := context.Background()
	sizes, _ := rdd.NewLongAccumulator(c, "sizes")
	_ = sizes.Add(ctx, 3)
	_ = sizes.Add(ctx, 5)
	total, err := sizes.Value(ctx)
	fmt.Println(total.Sum, total.Count, total.Average(), err)
	sizes.Reset()
	fmt.Println(sizes.Value(ctx))
	// Output:
	// 8 2 4 <nil>
	// {0 0} <nil>
}

func ExampleNewDoubleAccumulator() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	ctx := context.Background()
	a, _ := rdd.NewDoubleAccumulator(c, "")
	_ = a.Add(ctx, 0.5)
	_ = a.Add(ctx, 2)
	total, _ := a.Value(ctx)
	fmt.Println(total.Average())
	// Output: 1.25
}

func ExampleNewCollectionAccumulator() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	ctx := context.Background()
	bad, _ := rdd.NewCollectionAccumulator[string](c, "bad lines")
	_ = bad.Add(ctx, "line 7")
	fmt.Println(bad.Value(ctx))
	// Output: [line 7] <nil>
}

func ExampleRDD_LocalCheckpoint() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Map(rdd.Parallelize(c, []int{1, 2}, 2), func(x int) int { return 10 * x })
	fmt.Println(r.LocalCheckpoint(), r.Level())
	show(r)
	fmt.Println(r.IsCheckpointed(), r.Deps()[0].Parent.Op())
	r.Unpersist() // there was nothing else of it
	_, err := r.Collect(context.Background())
	fmt.Println(errors.Is(err, rdd.ErrCheckpointLost))
	// Output:
	// <nil> MEMORY_AND_DISK
	// [10 20] <nil>
	// true localCheckpoint
	// true
}

func ExampleDeclareDeterminism() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.DeclareDeterminism(rdd.Parallelize(c, []int{1, 2}, 2), lineage.Unordered)
	fmt.Println(r.Determinism(), rdd.ZipWithUniqueID(r).Determinism())
	// Output: UNORDERED INDETERMINATE
}

func ExampleDeclareOrderSensitive() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.DeclareDeterminism(rdd.Parallelize(c, []int{1, 2}, 2), lineage.Unordered)
	fmt.Println(rdd.Glom(r).Determinism(), rdd.DeclareOrderSensitive(rdd.Glom(r)).Determinism())
	// Output: UNORDERED INDETERMINATE
}

func ExampleWithPool() {
	ctx := rdd.WithPool(context.Background(), "reports")
	fmt.Println(lineage.PropertiesOf(ctx).Pool)
	// Output: reports
}

func ExampleWithJobGroup() {
	ctx := rdd.WithJobGroup(context.Background(), "nightly", "sales of the day")
	fmt.Println(lineage.PropertiesOf(ctx).Group, lineage.PropertiesOf(ctx).Description)
	// Output: nightly sales of the day
}

func ExampleWithTags() {
	ctx := rdd.WithTags(context.Background(), "a")
	ctx = rdd.WithTags(ctx, "b", "a")
	fmt.Println(lineage.PropertiesOf(ctx).Tags)
	// Output: [a b]
}

func ExampleRDD_CleanShuffleDependencies() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []int{1, 2}, 2).Repartition(1)
	show(r)
	r.CleanShuffleDependencies()
	show(r) // the map stage runs again
	// Output:
	// [1 2] <nil>
	// [1 2] <nil>
}

func ExampleExplain() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	view := c.In(lineage.Scope{}, "main.go:9", 0)
	words := rdd.Parallelize(view, []string{"a", "b", "a"}, 2)
	counts := rdd.Counts(words, rdd.NumPartitions(1)).Cache()
	show(counts)
	fmt.Print(rdd.Explain(counts))
	// Output:
	// [(a,2) (b,1)] <nil>
	// counts[2] main.go:9: 1 partition, DETERMINATE
	// stage 0: 2 partitions, writes shuffle 2 for 1 reducer: skipped, what it writes is there
	//   parallelize[1] main.go:9
	// stage 1: 1 partition: runs
	//   counts[2] main.go:9 [MEMORY_ONLY] 1 of 1 kept <- shuffle 2 of stage 0
}

func ExamplePackPartitions() {
	fmt.Println(rdd.PackPartitions([]int64{110, 30, 170, 15, 35}, 128))
	fmt.Println(rdd.PackPartitions([]int64{200, 0, 0}, 100))
	// Output:
	// [{0 1} {1 2} {2 3} {3 5}]
	// [{0 1}]
}

func ExampleCoalesceTarget() {
	fmt.Println(rdd.CoalesceTarget(80<<20, 8)>>20, rdd.CoalesceTarget(100, 8)>>20)
	// Output: 10 1
}

func ExampleCheckpointFile_partitioner() {
	dir, err := os.MkdirTemp("", "checkpoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, stop := inProcess(rdd.Options{CheckpointDir: dir})
	defer stop()
	r := rdd.PartitionBy(rdd.Parallelize(c, []pair{{Key: "a", Value: 1}}, 1), rdd.Hash[string](2))
	fmt.Println(r.Checkpoint())
	show(r)
	again := rdd.CheckpointFile[pair](c, dir+"/rdd-2")
	fmt.Println(again.Partitioner(), again.Partitioner().Equal(rdd.Hash[string](2)))
	// Output:
	// <nil>
	// [(a,1)] <nil>
	// hash:2 true
}
