package keyed_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/leat-io/leat/rdd/keyed"
)

// Counting words, as one task does it.
func Example() {
	h, err := keyed.HasherFor[string]()
	if err != nil {
		fmt.Println(err)
		return
	}
	t := keyed.New[string, int64](h, 0)
	keyed.Count(t, strings.Fields("to be or not to be"))
	for _, p := range t.Pairs(nil, 0, t.Len()) {
		fmt.Println(p.Key, p.Value)
	}
	// Output:
	// to 2
	// be 2
	// or 1
	// not 1
}

func ExampleReduce() {
	h, _ := keyed.HasherFor[string]()
	t := keyed.New[string, int](h, 0)
	rows := []keyed.Pair[string, int]{{Key: "a", Value: 3}, {Key: "b", Value: 1}, {Key: "a", Value: 5}}
	keyed.Reduce(t, rows, func(a, b int) int { return max(a, b) }, nil)
	fmt.Println(t.Pairs(nil, 0, t.Len()))
	// Output: [(a,5) (b,1)]
}

func ExampleCombine() {
	h, _ := keyed.HasherFor[int]()
	t := keyed.New[int, []string](h, 0)
	rows := []keyed.Pair[int, string]{{Key: 1, Value: "one"}, {Key: 2, Value: "two"}, {Key: 1, Value: "uno"}}
	keyed.Combine(t, rows,
		func(s string) []string { return []string{s} },
		func(c []string, s string) []string { return append(c, s) })
	fmt.Println(t.Pairs(nil, 0, t.Len()))
	// Output: [(1,[one uno]) (2,[two])]
}

func ExampleCount() {
	h, _ := keyed.HasherFor[float64]()
	t := keyed.New[float64, int64](h, 0)
	keyed.Count(t, []float64{math.NaN(), 0, math.NaN(), math.Copysign(0, -1)})
	fmt.Println(t.Pairs(nil, 0, t.Len()))
	// Output: [(NaN,2) (0,2)]
}

func ExampleAdd() {
	h, _ := keyed.HasherFor[string]()
	t := keyed.New[string, float64](h, 0)
	keyed.Add(t, []keyed.Pair[string, float64]{{Key: "x", Value: 0.5}, {Key: "x", Value: 0.25}})
	fmt.Println(t.Pairs(nil, 0, t.Len()))
	// Output: [(x,0.75)]
}

func ExampleMerge() {
	h, _ := keyed.HasherFor[int]()
	left, right := keyed.New[int, int64](h, 0), keyed.New[int, int64](h, 0)
	keyed.Count(left, []int{1, 2, 3, 4})
	keyed.Count(right, []int{4, 3, 9})
	// Partition 1 of 2, from both sides.
	sum := keyed.New[int, int64](h, 0)
	add := func(a, b int64) int64 { return a + b }
	keyed.Merge(sum, left.SplitHash(2)[1], add, nil)
	keyed.Merge(sum, right.SplitHash(2)[1], add, nil)
	fmt.Println(sum.Pairs(nil, 0, sum.Len()))
	// Output: [(1,1) (3,2) (9,1)]
}

func ExampleTable_Split() {
	h, _ := keyed.HasherFor[string]()
	t := keyed.New[string, int64](h, 0)
	keyed.Count(t, []string{"pear", "apple", "plum"})
	blocks, err := t.Split(2, func(k string) int { return int(k[0]) % 2 })
	fmt.Println(blocks[0].Pairs(nil, 0, 2), blocks[1].Pairs(nil, 0, 1), err)
	// Output: [(pear,1) (plum,1)] [(apple,1)] <nil>
}

func ExampleTable_SplitHash() {
	h, _ := keyed.HasherFor[int]()
	t := keyed.New[int, int64](h, 0)
	keyed.Count(t, []int{-1, 3, 7, 2})
	for p, b := range t.SplitHash(3) {
		if b != nil {
			fmt.Println(p, b.Pairs(nil, 0, b.Rows()))
		}
	}
	// Output:
	// 0 [(3,1)]
	// 1 [(7,1)]
	// 2 [(-1,1) (2,1)]
}

func ExampleHasher_Partition() {
	ints, _ := keyed.HasherFor[int]()
	words, _ := keyed.HasherFor[string]()
	fmt.Println(ints.Partition(7, 4), ints.Partition(-1, 4), words.Partition("word", 4))
	// Output: 3 3 0
}

func ExampleHasherFor() {
	type user struct {
		Name  string
		Owner *int
	}
	_, err := keyed.HasherFor[user]()
	fmt.Println(err)
	// Output: bad key type: key.Owner is *int: its equality is that of an address, which means nothing in another process
}

func ExampleSome() {
	fmt.Println(keyed.Some(3), keyed.None[int]())
	// Output: Some(3) None
}

func ExampleMergeByHash() {
	h, _ := keyed.HasherFor[string]()
	pack := func(rows ...keyed.Pair[string, string]) *keyed.Packed[string, string] {
		p := keyed.NewPacked[string, string](h, 0)
		p.Append(rows)
		return p.ByHash()
	}
	older := pack(keyed.Pair[string, string]{Key: "pear", Value: "1"}, keyed.Pair[string, string]{Key: "plum", Value: "2"})
	newer := pack(keyed.Pair[string, string]{Key: "fig", Value: "3"}, keyed.Pair[string, string]{Key: "pear", Value: "4"})
	then := func(a, b string) string { return a + " then " + b }
	both := keyed.MergeByHash(older, newer, then, nil)
	rows := both.Pairs(nil, 0, both.Len())
	slices.SortFunc(rows, func(a, b keyed.Pair[string, string]) int { return strings.Compare(a.Key, b.Key) })
	fmt.Println(rows)
	// Output: [(fig,3) (pear,1 then 4) (plum,2)]
}

func ExampleEachMerged() {
	h, _ := keyed.HasherFor[int]()
	older, newer := keyed.NewPacked[int, int](h, 0), keyed.NewPacked[int, int](h, 0)
	for i := range 1000 {
		older.Append([]keyed.Pair[int, int]{{Key: i, Value: i}})
		newer.Append([]keyed.Pair[int, int]{{Key: i + 500, Value: 1}})
	}
	keys, sum := 0, 0
	err := keyed.EachMerged(older.ByHash(), newer.ByHash(), func(a, b int) int { return max(a, b) }, nil, 512, func(rows []keyed.Pair[int, int]) error {
		for _, r := range rows {
			keys, sum = keys+1, sum+r.Value
		}
		return nil
	})
	fmt.Println(keys, sum, err)
	// Output: 1500 500000 <nil>
}

func ExamplePacked_ByHash() {
	h, _ := keyed.HasherFor[int]()
	p := keyed.NewPacked[int, string](h, 0)
	p.Append([]keyed.Pair[int, string]{{Key: 1, Value: "a"}, {Key: 2, Value: "b"}, {Key: 3, Value: "c"}})
	q := keyed.NewPacked[int, string](h, 0)
	q.Append([]keyed.Pair[int, string]{{Key: 3, Value: "c"}, {Key: 1, Value: "a"}, {Key: 2, Value: "b"}})
	// The same keys are in the same order, whatever order they came in.
	fmt.Println(slices.Equal(p.ByHash().Pairs(nil, 0, 3), q.ByHash().Pairs(nil, 0, 3)))
	// Output: true
}
