package rdd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/rdd"
)

// inFolder calls f with a context and a folder that goes away afterwards.
func inFolder(f func(c *rdd.Context, dir string)) {
	dir, err := os.MkdirTemp("", "rdd")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, stop := inProcess(rdd.Options{CheckpointDir: filepath.Join(dir, "checkpoint")})
	defer stop()
	f(c, dir)
}

func ExampleTextFiles() {
	inFolder(func(c *rdd.Context, dir string) {
		a := filepath.Join(dir, "a.txt")
		fmt.Println(os.WriteFile(a, []byte("one\ntwo"), 0o644))
		show(rdd.TextFiles(c, []string{a, a}))
	})
	// Output:
	// <nil>
	// [one two one two] <nil>
}

func ExampleTextFilesChecked() {
	inFolder(func(c *rdd.Context, dir string) {
		a := filepath.Join(dir, "a.txt")
		fmt.Println(os.WriteFile(a, []byte("one\ntwo"), 0o644))
		changed := errors.New("the file is not what it was")
		lines := rdd.TextFilesChecked(c, []string{a}, func(path string) error {
			if info, err := os.Stat(path); err != nil || info.Size() != 7 {
				return errors.Join(err, changed)
			}
			return nil
		})
		show(lines)
		fmt.Println(os.WriteFile(a, []byte("one"), 0o644))
		_, err := lines.Collect(context.Background())
		fmt.Println(errors.Is(err, changed))
	})
	// Output:
	// <nil>
	// [one two] <nil>
	// <nil>
	// true
}

func ExampleRDD_OverwriteTextFile() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		for _, rows := range [][]string{{"a", "b", "c"}, {"d"}} {
			if err := rdd.Parallelize(c, rows, len(rows)).OverwriteTextFile(context.Background(), out); err != nil {
				fmt.Println(err)
			}
		}
		show(rdd.TextFile(c, out, 1))
	})
	// Output: [d] <nil>
}

func ExampleCheckpointFile() {
	inFolder(func(c *rdd.Context, dir string) {
		r := rdd.Parallelize(c, []int{1, 2}, 2)
		fmt.Println(r.Checkpoint())
		show(r)
		show(rdd.CheckpointFile[int](c, filepath.Join(dir, "checkpoint", "rdd-1")))
	})
	// Output:
	// <nil>
	// [1 2] <nil>
	// [1 2] <nil>
}

func ExampleUnionAll() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.UnionAll(c, rdd.Parallelize(c, []int{1}, 1), rdd.Empty[int](c), rdd.Parallelize(c, []int{2, 3}, 2)))
	// Output: [1 2 3] <nil>
}

func ExampleRDD_Cache() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	calls := 0
	r := rdd.Map(rdd.Parallelize(c, []int{1, 2}, 1), func(x int) int { calls++; return x }).Cache()
	show(r)
	show(r)
	fmt.Println(calls)
	// Output:
	// [1 2] <nil>
	// [1 2] <nil>
	// 2
}
