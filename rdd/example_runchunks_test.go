package rdd_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

func ExampleRunChunks() {
	c, end := inProcess(rdd.Options{})
	defer end()
	lengths, err := rdd.RunChunks(context.Background(), rdd.Parallelize(c, []string{"to", "be", "or"}, 2), "lengths",
		func(_ context.Context, _ int, rows rdd.Rows[string]) (n int, err error) {
			err = rows.Each(func(chunk []string) error {
				for _, s := range chunk {
					n += len(s)
				}
				return nil
			})
			return n, err
		})
	fmt.Println(lengths, err)
	// Output: [2 4] <nil>
}
