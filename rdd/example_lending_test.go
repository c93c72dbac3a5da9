package rdd_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/keyed"
)

// How many different words each partition holds after counting, without a pair made of any.
func ExampleMapPacked() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		h, err := keyed.HasherFor[int]()
		if err != nil {
			fmt.Println(err)
			return
		}
		counts := rdd.Counts(rdd.Parallelize(c, []int{1, 2, 3, 1, 5}, 2), rdd.NumPartitions(2))
		printParts(ctx, rdd.MapPacked(counts, "distinct", h, func(_ int, pairs *keyed.Packed[int, int64]) int { return pairs.Len() }))
	})
	// Output: [[1] [3]]
}

// Words cut out of a text are lent to Top, which copies the one it keeps.
func ExampleMapRowsLending() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		const text = "ant bee cat"
		starts := rdd.Parallelize(c, []int{0, 4, 8}, 1)
		copies := 0
		own := func(s string) string {
			copies++
			return string([]byte(s))
		}
		words := rdd.MapRowsLending(starts, "words", nil, own, func(_ int, rows rdd.Rows[int], lend bool, out func([]string) error) error {
			return rows.Each(func(chunk []int) error {
				words := make([]string, len(chunk))
				for i, at := range chunk {
					if words[i] = text[at : at+3]; !lend {
						words[i] = own(words[i])
					}
				}
				return out(words)
			})
		})
		top, err := rdd.Top(ctx, words, 1)
		fmt.Println(top, copies, err)
	})
	// Output: [cat] 1 <nil>
}

// A loop that counts much the same words again and again makes its tables large enough at once.
func ExampleSizedBy() {
	onThisMachine(func(ctx context.Context, c *rdd.Context) {
		var size rdd.TableSize
		for range 2 {
			printParts(ctx, rdd.Counts(rdd.Parallelize(c, []string{"a", "b", "a"}, 1), rdd.NumPartitions(1), rdd.SizedBy(&size)))
		}
	})
	// Output:
	// [[(a,2) (b,1)]]
	// [[(a,2) (b,1)]]
}
