package rdd_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"github.com/leat-io/leat/rdd"
)

func ExampleMakeRDD() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		r := rdd.MakeRDD(c, []rdd.Located[string]{{Row: "near", Hosts: []string{"host1"}}, {Row: "anywhere"}})
		printParts(ctx, r)
		hosts, err := rdd.Map(r, func(s string) int { return len(s) }).PreferredLocations(0)
		fmt.Println(hosts, err)
	})
	// Output:
	// [[near] [anywhere]]
	// [host1] <nil>
}

// shelf keeps blocks in memory.
type shelf map[string][]int

func (s shelf) Block(_ context.Context, id string) ([]int, error) {
	if rows, ok := s[id]; ok {
		return rows, nil
	}
	return nil, errors.New("not here")
}

func (shelf) Hosts(string) []string { return nil }

func ExampleBlockRDD() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.BlockRDD(c, shelf{"input-0-1": {1, 2}, "input-0-2": {3}}, []string{"input-0-1", "input-0-2"}))
	})
	// Output: [[1 2] [3]]
}

// inTwoFiles calls f with a folder of two small files.
func inTwoFiles(f func(dir string)) {
	dir, err := os.MkdirTemp("", "leat")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"a.txt": "to be", "b.txt": "or not"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	f(dir)
}

func ExampleWholeTextFiles() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		inTwoFiles(func(dir string) {
			show(rdd.Map(rdd.WholeTextFiles(c, dir, 2), func(p rdd.Pair[string, string]) string {
				return filepath.Base(p.Key) + ": " + p.Value
			}))
		})
	})
	// Output: [a.txt: to be b.txt: or not] <nil>
}

func ExampleBinaryFiles() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		inTwoFiles(func(dir string) {
			show(rdd.MapValues(rdd.BinaryFiles(c, filepath.Join(dir, "b*"), 1), func(b []byte) int { return len(b) }).Sample(false, 0, 1))
		})
	})
	// Output: [] <nil>
}

func ExampleFilterMap() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		numbers := rdd.FilterMap(rdd.Parallelize(c, []string{"1", "two", "3"}, 2), func(s string) (int, bool) {
			n, err := strconv.Atoi(s)
			return n, err == nil
		})
		show(numbers)
	})
	// Output: [1 3] <nil>
}

func ExampleFlatMapSeq() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		show(rdd.FlatMapSeq(rdd.Parallelize(c, []int{2, 0, 3}, 2), func(n int) iter.Seq[int] {
			return func(yield func(int) bool) {
				for i := range n {
					if !yield(i) {
						return
					}
				}
			}
		}))
	})
	// Output: [0 1 0 1 2] <nil>
}

func ExampleSliding() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		printParts(ctx, rdd.Sliding(rdd.Parallelize(c, []int{1, 2, 3, 4}, 2), 3))
	})
	// Output: [[[1 2 3] [2 3 4]] []]
}

func ExampleCoGroupAll() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		mon := rdd.Parallelize(c, []pair{{Key: "a", Value: 1}, {Key: "b", Value: 2}}, 1)
		tue := rdd.Parallelize(c, []pair{{Key: "a", Value: 3}}, 1)
		wed := rdd.Parallelize(c, []pair{{Key: "a", Value: 4}, {Key: "a", Value: 5}}, 1)
		show(rdd.CoGroupAll(c, []*rdd.RDD[pair]{mon, tue, wed}))
	})
	// Output: [(a,[[1] [3] [4 5]]) (b,[[2] [] []])] <nil>
}

// first is a sequence of the first record of each sequence.
func first(seqs ...iter.Seq[int]) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, s := range seqs {
			for x := range s {
				if !yield(x) {
					return
				}
				break
			}
		}
	}
}

func ExampleZipPartitions3() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		a, b := rdd.Parallelize(c, []int{1, 2, 3, 4}, 2), rdd.Parallelize(c, []int{5, 6}, 2)
		printParts(ctx, rdd.ZipPartitions3(a, b, a, func(x, y, z iter.Seq[int]) iter.Seq[int] { return first(x, y, z) }))
	})
	// Output: [[1 5 1] [3 6 3]]
}

func ExampleZipPartitions4() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		a, b := rdd.Parallelize(c, []int{1, 2, 3, 4}, 2), rdd.Parallelize(c, []int{5, 6}, 2)
		printParts(ctx, rdd.ZipPartitions4(b, a, b, a, func(w, x, y, z iter.Seq[int]) iter.Seq[int] { return first(w, x, y, z) }))
	})
	// Output: [[5 1 5 1] [6 3 6 3]]
}

func ExampleRDD_SetName() {
	onThisMachine(func(_ context.Context, c *rdd.Context) {
		fmt.Println(dice(c).SetName("dice").Name())
	})
	// Output: dice
}

func ExampleCollectAsync() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		throws, size := rdd.CollectAsync(ctx, dice(c)), rdd.CountAsync(ctx, dice(c))
		fmt.Println(throws.Wait(ctx))
		fmt.Println(size.Wait(ctx))
	})
	// Output:
	// [3 6 1 4 6] <nil>
	// 5 <nil>
}

func ExampleCountAsync() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		size := rdd.CountAsync(ctx, dice(c))
		fmt.Println(size.Wait(ctx))
	})
	// Output: 5 <nil>
}

func ExampleTakeAsync() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		some := rdd.TakeAsync(ctx, dice(c), 2)
		fmt.Println(some.Wait(ctx))
	})
	// Output: [3 6] <nil>
}

func ExampleForeachAsync() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		done := rdd.ForeachAsync(ctx, rdd.Parallelize(c, []string{"hello"}, 1), func(s string) { fmt.Println(s) })
		_, err := done.Wait(ctx)
		fmt.Println(err)
	})
	// Output:
	// hello
	// <nil>
}

func ExampleToLocalIteratorAhead() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		for x, err := range rdd.ToLocalIteratorAhead(ctx, dice(c)) {
			if err != nil || x == 1 {
				break
			}
			fmt.Println(x)
		}
	})
	// Output:
	// 3
	// 6
}
