package rdd_test

import (
	"cmp"
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// sales are what the examples by key work on.
func sales(c *rdd.Context) *rdd.RDD[pair] {
	return rdd.Parallelize(c, []pair{{Key: "tea", Value: 3}, {Key: "milk", Value: 1}, {Key: "tea", Value: 4}}, 2)
}

func ExampleKeyBy() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	words := rdd.KeyBy(rdd.Parallelize(c, []string{"tea", "milk"}, 1), func(s string) int { return len(s) })
	show(words)
	show(rdd.Keys(words))
	show(rdd.Values(words))
	// Output:
	// [(3,tea) (4,milk)] <nil>
	// [3 4] <nil>
	// [tea milk] <nil>
}

func ExampleKeys() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Keys(sales(c)))
	// Output: [tea milk tea] <nil>
}

func ExampleValues() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Values(sales(c)))
	// Output: [3 1 4] <nil>
}

func ExampleMapValues() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.MapValues(sales(c), func(v int) int { return 10 * v }))
	// Output: [(tea,30) (milk,10) (tea,40)] <nil>
}

func ExampleFlatMapValues() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.FlatMapValues(sales(c), func(v int) []int { return []int{v, -v} }))
	// Output: [(tea,3) (tea,-3) (milk,1) (milk,-1) (tea,4) (tea,-4)] <nil>
}

func ExampleReduceByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.ReduceByKey(sales(c), sum, rdd.NumPartitions(1)))
	// Output: [(tea,7) (milk,1)] <nil>
}

func ExampleCombineByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	type mean struct{ Sum, N int }
	means := rdd.CombineByKey(sales(c),
		func(v int) mean { return mean{v, 1} },
		func(m mean, v int) mean { return mean{m.Sum + v, m.N + 1} },
		func(a, b mean) mean { return mean{a.Sum + b.Sum, a.N + b.N} }, rdd.NumPartitions(1))
	show(rdd.MapValues(means, func(m mean) float64 { return float64(m.Sum) / float64(m.N) }))
	// Output: [(tea,3.5) (milk,1)] <nil>
}

func ExampleAggregateByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.AggregateByKey(sales(c), "", func(s string, v int) string { return fmt.Sprint(s, v) },
		func(a, b string) string { return a + b }, rdd.NumPartitions(1)))
	// Output: [(tea,34) (milk,1)] <nil>
}

func ExampleFoldByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.FoldByKey(sales(c), 0, sum, rdd.NumPartitions(1)))
	// Output: [(tea,7) (milk,1)] <nil>
}

func ExampleWithoutMapSideCombine() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.ReduceByKey(sales(c), sum, rdd.NumPartitions(1), rdd.WithoutMapSideCombine()))
	// Output: [(tea,7) (milk,1)] <nil>
}

func ExampleGroupByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.GroupByKey(sales(c), rdd.NumPartitions(1)))
	// Output: [(tea,[3 4]) (milk,[1])] <nil>
}

func ExampleGroupBy() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.GroupBy(rdd.Parallelize(c, []int{1, 2, 3, 4}, 2), func(x int) string { return []string{"even", "odd"}[x%2] }, rdd.NumPartitions(1)))
	// Output: [(odd,[1 3]) (even,[2 4])] <nil>
}

func ExampleCounts() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Counts(rdd.Parallelize(c, []string{"to", "be", "to"}, 2), rdd.NumPartitions(1)))
	// Output: [(to,2) (be,1)] <nil>
}

func ExampleCountByValue() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.CountByValue(context.Background(), rdd.Parallelize(c, []int{2, 1, 2}, 1)))
	// Output: [(2,2) (1,1)] <nil>
}

func ExampleCountByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	fmt.Println(rdd.CountByKey(context.Background(), rdd.Parallelize(c, []rdd.Pair[int, string]{{Key: 1, Value: "a"}, {Key: 1, Value: "b"}}, 1)))
	// Output: [(1,2)] <nil>
}

// prices are a second input for the joins.
func prices(c *rdd.Context) *rdd.RDD[rdd.Pair[string, float64]] {
	return rdd.Parallelize(c, []rdd.Pair[string, float64]{{Key: "tea", Value: 2.5}, {Key: "rice", Value: 4}}, 1)
}

func ExampleCoGroup() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.CoGroup(sales(c), prices(c), rdd.NumPartitions(1)))
	// Output: [(tea,([3 4],[2.5])) (milk,([1],[])) (rice,([],[4]))] <nil>
}

func ExampleJoin() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.Join(sales(c), prices(c), rdd.NumPartitions(1)))
	// Output: [(tea,(3,2.5)) (tea,(4,2.5))] <nil>
}

func ExampleLeftOuterJoin() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.LeftOuterJoin(sales(c), prices(c), rdd.NumPartitions(1)))
	// Output: [(tea,(3,Some(2.5))) (tea,(4,Some(2.5))) (milk,(1,None))] <nil>
}

func ExampleRightOuterJoin() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	show(rdd.RightOuterJoin(sales(c), prices(c), rdd.NumPartitions(1)))
	// Output: [(tea,(Some(3),2.5)) (tea,(Some(4),2.5)) (rice,(None,4))] <nil>
}

func ExampleFullOuterJoin() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	joined := rdd.FullOuterJoin(sales(c), prices(c), rdd.NumPartitions(1))
	fmt.Println(joined.Count(context.Background()))
	// Output: 4 <nil>
}

func ExamplePartitionBy() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	pairs := rdd.Parallelize(c, []rdd.Pair[int, string]{{Key: 1, Value: "a"}, {Key: 2, Value: "b"}, {Key: -1, Value: "c"}}, 1)
	fmt.Println(rdd.PartitionBy(pairs, rdd.Hash[int](2)).CollectPartitions(context.Background()))
	// Output: [[(2,b)] [(1,a) (-1,c)]] <nil>
}

func ExamplePartitionFunc() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	byLength := rdd.PartitionFunc("length", 2, func(k string) int { return min(len(k)/4, 1) })
	fmt.Println(rdd.PartitionBy(sales(c), byLength).CollectPartitions(context.Background()))
	fmt.Println(rdd.ReduceByKey(sales(c), sum, rdd.PartitionedBy(byLength)).Partitioner())
	// Output:
	// [[(tea,3) (tea,4)] [(milk,1)]] <nil>
	// length:2
}

func ExampleHash() {
	p := rdd.Hash[int](3)
	fmt.Println(p, p.PartitionFor(4), p.PartitionFor(-1), p.Equal(rdd.Hash[int](3)))
	// Output: hash:3 1 2 true
}

func ExampleSortBy() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	sorted, err := rdd.SortBy(context.Background(), rdd.Parallelize(c, []string{"milk", "tea", "rice"}, 2), func(s string) int { return len(s) })
	if err != nil {
		fmt.Println(err)
		return
	}
	show(sorted)
	// Output: [tea milk rice] <nil>
}

func ExampleSortByFunc() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	sorted, err := rdd.SortByFunc(context.Background(), rdd.Parallelize(c, []int{1, 2, 3, 4}, 2), func(x int) int { return x },
		func(a, b int) int { return cmp.Or(cmp.Compare(a%2, b%2), cmp.Compare(a, b)) })
	if err != nil {
		fmt.Println(err)
		return
	}
	show(sorted)
	// Output: [2 4 1 3] <nil>
}

func ExampleSortByKey() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	sorted, err := rdd.SortByKey(context.Background(), prices(c), rdd.Descending(), rdd.SortPartitions(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sorted.CollectPartitions(context.Background()))
	fmt.Println(sorted.Partitioner())
	// Output:
	// [[(tea,2.5)] [(rice,4)]] <nil>
	// range:2
}

func ExampleSortByKeyFunc() {
	c, stop := inProcess(rdd.Options{})
	defer stop()
	byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
	sorted, err := rdd.SortByKeyFunc(context.Background(), sales(c), byLength, rdd.SortPartitions(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(sorted)
	// Output: [(tea,3) (tea,4) (milk,1)] <nil>
}

func ExampleCompare() {
	nan := 0.0
	nan /= nan
	fmt.Println(rdd.Compare(1, 2), rdd.Compare("b", "a"), rdd.Compare(nan, 1))
	// Output: -1 1 1
}
