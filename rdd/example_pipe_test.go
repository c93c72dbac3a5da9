//go:build unix

package rdd_test

import (
	"context"

	"github.com/leat-io/leat/rdd"
)

func ExampleRDD_Pipe() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		words := rdd.Parallelize(c, []string{"pear", "fig", "apple"}, 1)
		show(words.Pipe([]string{"sort"}))
	})
	// Output: [apple fig pear] <nil>
}
