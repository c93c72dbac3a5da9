package rdd_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// inProcess returns a context over one executor in this process, and how to end it.
func inProcess(opts rdd.Options) (*rdd.Context, func()) {
	sched := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	c, err := rdd.NewContext(sched, opts)
	if err != nil {
		panic(err)
	}
	return c, func() { _ = sched.Close() }
}

// show prints the records of an RDD, or what is wrong with it.
func show[T any](r *rdd.RDD[T]) {
	rows, err := r.Collect(context.Background())
	fmt.Println(rows, err)
}

type pair = rdd.Pair[string, int]

func sum(a, b int) int { return a + b }

// A word count, from the context to the answer.
func Example() {
	sched := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	defer sched.Close()
	c, err := rdd.NewContext(sched, rdd.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := rdd.Parallelize(c, []string{"to be or", "not to be"}, 2)
	words := rdd.FlatMap(lines, strings.Fields)
	ones := rdd.Map(words, func(w string) pair { return pair{Key: w, Value: 1} })
	counts := rdd.ReduceByKey(ones, sum, rdd.NumPartitions(1))
	rows, err := counts.Collect(context.Background())
	fmt.Println(rows, err)
	// Output: [(to,2) (be,2) (or,1) (not,1)] <nil>
}

func ExampleNewContext() {
	_, err := rdd.NewContext(scheduler.New(local.New(local.Options{}), scheduler.Options{}), rdd.Options{Cores: -1})
	fmt.Println(err)
	// Output: rdd.Options.Cores is negative
}

func ExampleContext_In() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	batch := c.In(lineage.Scope{Batch: 2000, Stream: 1}, "words at main.go:12", 0)
	r := rdd.Parallelize(batch, []int{1, 2}, 2)
	fmt.Println(r, r.Site())
	c.Forget(lineage.Scope{Batch: 2000, Stream: 1})
	// Output: parallelize[1@2000.1] words at main.go:12
}

func ExampleContext_Stop() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	c.Stop()
	_, err := rdd.Empty[int](c).Count(context.Background())
	fmt.Println(errors.Is(err, rdd.ErrStopped))
	// Output: true
}

func ExampleNewErrorCodec() {
	// Executors that are kept apart carry errors as bytes.
	apart := local.New(local.Options{Isolate: true, ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}})
	sched := scheduler.New(apart, scheduler.Options{})
	defer sched.Close()
	c, _ := rdd.NewContext(sched, rdd.Options{})
	_, err := rdd.Map(rdd.Parallelize(c, []int{2, 1, 0}, 1), func(x int) int { return 2 / x }).Collect(context.Background())
	var failed *rdd.UserError
	fmt.Println(errors.As(err, &failed), failed.Op, failed.Partition, failed.Offset)
	// Output: true map 0 2
}

func ExampleParallelize() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Glom(rdd.Parallelize(c, []int{1, 2, 3, 4, 5}, 2)))
	// Output: [[1 2] [3 4 5]] <nil>
}

func ExampleRange() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Range(c, 10, 0, -3, 2))
	// Output: [10 7 4 1] <nil>
}

func ExampleEmpty() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Empty[string](c))
	// Output: [] <nil>
}

func ExampleTextFile() {
	dir, err := os.MkdirTemp("", "lines")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\r\nthree"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.TextFile(c, filepath.Join(dir, "*.txt"), 2))
	show(rdd.TextFiles(c, []string{filepath.Join(dir, "a.txt"), filepath.Join(dir, "a.txt")}))
	// Output:
	// [one two three] <nil>
	// [one two three one two three] <nil>
}

func ExampleRDD_SaveAsTextFile() {
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, stop := inProcess(rdd.Options{})
	defer stop()
	counts := rdd.Parallelize(c, []pair{{Key: "to", Value: 2}, {Key: "be", Value: 1}}, 2)
	fmt.Println(counts.SaveAsTextFile(context.Background(), filepath.Join(dir, "out")))
	fmt.Println(counts.OverwriteTextFile(context.Background(), filepath.Join(dir, "out")))
	show(rdd.TextFile(c, filepath.Join(dir, "out"), 1))
	// Output:
	// <nil>
	// <nil>
	// [(to,2) (be,1)] <nil>
}

func ExampleMap() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Map(rdd.Parallelize(c, []string{"a", "bb"}, 1), func(s string) int { return len(s) }))
	// Output: [1 2] <nil>
}

func ExampleTryMap() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	_, err := rdd.TryMap(rdd.Parallelize(c, []string{"1", "x"}, 1), func(s string) (int, error) {
		var n int
		_, err := fmt.Sscan(s, &n)
		return n, err
	}).Collect(context.Background())
	var failed *rdd.UserError
	fmt.Println(errors.As(err, &failed), failed.Op, failed.Offset, failed.Err)
	// Output: true tryMap 1 expected integer
}

func ExampleRDD_Filter() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Parallelize(c, []int{1, 2, 3, 4}, 2).Filter(func(x int) bool { return x%2 == 0 }))
	// Output: [2 4] <nil>
}

func ExampleFlatMap() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.FlatMap(rdd.Parallelize(c, []string{"to be", "or not"}, 2), strings.Fields))
	// Output: [to be or not] <nil>
}

func ExampleFlatMapAppend() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.FlatMapAppend(rdd.Parallelize(c, []int{1, 2, 3}, 2), func(x int, out []int) []int {
		for range x {
			out = append(out, x)
		}
		return out
	}))
	// Output: [1 2 2 3 3 3] <nil>
}

func ExampleMapChunks() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.MapChunks(rdd.Range(c, 0, 5, 1, 2), func(in, out []int64) ([]int64, error) {
		for _, x := range in {
			out = append(out, x*x)
		}
		return out, nil
	}))
	// Output: [0 1 4 9 16] <nil>
}

func ExampleMapPartitions() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.MapPartitions(rdd.Range(c, 0, 6, 1, 2), func(in iter.Seq[int64]) iter.Seq[int64] {
		var sum int64
		for x := range in {
			sum += x
		}
		return slices.Values([]int64{sum})
	}))
	// Output: [3 12] <nil>
}

func ExampleMapPartitionsWithIndex() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.MapPartitionsWithIndex(rdd.Parallelize(c, []string{"a", "b", "c"}, 2), func(part int, in iter.Seq[string]) iter.Seq[string] {
		return func(yield func(string) bool) {
			for s := range in {
				if !yield(fmt.Sprint(part, s)) {
					return
				}
			}
		}
	}))
	// Output: [0a 1b 1c] <nil>
}

func ExamplePreservePartitioning() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	placed := rdd.PartitionBy(rdd.Parallelize(c, []pair{{Key: "a", Value: 1}}, 1), rdd.Hash[string](4))
	same := func(in iter.Seq[pair]) iter.Seq[pair] { return in }
	fmt.Println(rdd.MapPartitions(placed, same).Partitioner(), rdd.MapPartitions(placed, same, rdd.PreservePartitioning()).Partitioner())
	// Output: <nil> hash:4
}

func ExampleGlom() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Glom(rdd.Parallelize(c, []int{1, 2}, 4)))
	// Output: [[] [1] [] [2]] <nil>
}

func ExampleRDD_Union() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	a, b := rdd.Parallelize(c, []int{1, 2}, 1), rdd.Parallelize(c, []int{2, 3}, 1)
	show(a.Union(b))
	show(rdd.UnionAll(c, a, b, a))
	// Output:
	// [1 2 2 3] <nil>
	// [1 2 2 3 1 2] <nil>
}

func ExampleDistinct() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Distinct(rdd.Parallelize(c, []string{"b", "a", "b"}, 2), rdd.NumPartitions(1)))
	// Output: [b a] <nil>
}

func ExampleRDD_Persist() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	r := rdd.Parallelize(c, []int{1, 2}, 1)
	fmt.Println(r.Persist(rdd.MemoryOnlySer()), r.Level())
	fmt.Println(errors.Is(r.Persist(rdd.MemoryOnly()), rdd.ErrLevelChange))
	r.Unpersist()
	fmt.Println(r.Cache().Level())
	// Output:
	// <nil> MEMORY_ONLY_SER
	// true
	// MEMORY_ONLY
}

func ExampleRDD_Checkpoint() {
	dir, err := os.MkdirTemp("", "checkpoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, stop := inProcess(rdd.Options{CheckpointDir: dir})
	defer stop()
	r := rdd.Map(rdd.Parallelize(c, []int{1, 2}, 2), func(x int) int { return 10 * x })
	fmt.Println(r.Checkpoint(), r.IsCheckpointed())
	show(r)
	fmt.Println(r.IsCheckpointed(), r.Deps()[0].Parent.Op())
	show(rdd.CheckpointFile[int](c, filepath.Join(dir, "rdd-2")))
	// Output:
	// <nil> false
	// [10 20] <nil>
	// true checkpoint
	// [10 20] <nil>
}

func ExampleRDD_DebugString() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	view := c.In(lineage.Scope{}, "main.go:9", 0)
	words := rdd.Parallelize(view, []string{"a", "b"}, 2)
	fmt.Print(rdd.Counts(words, rdd.NumPartitions(1)).DebugString())
	// Output:
	// (1) counts[2] main.go:9
	//  +-(2) parallelize[1] main.go:9
}
