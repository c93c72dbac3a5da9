package rdd

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/lineage"
)

// wantUserErr fails the test unless err has a *UserError of an operator in a partition.
func wantUserErr(t testing.TB, err error, op string, part int) *UserError {
	t.Helper()
	var user *UserError
	if !errors.As(err, &user) || user.Op != op || user.Partition != part {
		t.Fatalf("%v, want a UserError of %s in partition %d", err, op, part)
	}
	return user
}

func TestFilterMap(t *testing.T) {
	halves := func(x int) (string, bool) { return fmt.Sprint(x / 2), x%2 == 0 }
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			same(t, "rows", collect(t, FilterMap(Parallelize(c, upTo(9), parts), halves)), []string{"1", "2", "3", "4"})
			same(t, "none", collect(t, FilterMap(Parallelize(c, []int{1, 3}, parts), halves)), []string{})
			long := FilterMap(Range(c, 0, 5000, 1, parts), func(x int64) (int64, bool) { return -x, x%5 == 0 })
			same(t, "long", must(long.Count(t.Context())), 1000)
		})
	}
	c, _ := inlineContext(t, Options{})
	_, err := FilterMap[int, int](Parallelize(c, upTo(2), 1), nil).Collect(t.Context())
	wantBuildErr(t, err, "filterMap", ErrNilFunction)
	bad := FilterMap(Parallelize(c, upTo(6), 2), func(x int) (int, bool) { return 1 / (x - 5), true })
	_, err = bad.Collect(t.Context())
	if user := wantUserErr(t, err, "filterMap", 1); user.Offset != 1 {
		t.Errorf("record %d, want 1", user.Offset)
	}
	same(t, "what came before the panic", must(bad.Take(t.Context(), 4)), []int{0, 0, 0, -1})
}

func TestFlatMapSeq(t *testing.T) {
	down := func(x int) iter.Seq[int] {
		if x%2 == 0 {
			return nil
		}
		return func(yield func(int) bool) {
			for i := x; i > 0 && yield(i); i-- {
			}
		}
	}
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			same(t, "rows", collect(t, FlatMapSeq(Parallelize(c, upTo(5), parts), down)), []int{1, 3, 2, 1, 5, 4, 3, 2, 1})
			same(t, "long", must(FlatMapSeq(Parallelize(c, []int{2001, 999}, parts), down).Count(t.Context())), 3000)
			endless := FlatMapSeq(Parallelize(c, upTo(2), parts), func(x int) iter.Seq[int] {
				return func(yield func(int) bool) {
					for yield(x) {
					}
				}
			})
			same(t, "endless", len(must(endless.Take(t.Context(), 700))), 700)
		})
	}
	c, _ := inlineContext(t, Options{})
	_, err := FlatMapSeq[int, int](Parallelize(c, upTo(2), 1), nil).Collect(t.Context())
	wantBuildErr(t, err, "flatMapSeq", ErrNilFunction)
	bad := FlatMapSeq(Parallelize(c, upTo(4), 2), func(x int) iter.Seq[int] {
		return func(yield func(int) bool) {
			if yield(x) && x == 4 {
				panic("four")
			}
		}
	})
	_, err = bad.Collect(t.Context())
	if user := wantUserErr(t, err, "flatMapSeq", 1); user.Offset != 1 {
		t.Errorf("record %d, want 1", user.Offset)
	}
	same(t, "what came before the panic", must(bad.Take(t.Context(), 4)), upTo(4))
	_, err = Map(FlatMapSeq(Parallelize(c, upTo(1), 1), down), func(int) int { panic("behind") }).Collect(t.Context())
	wantUserErr(t, err, "map", 0)
}

// TestSliding compares with a loop over the whole, for every cut, empty partitions among them.
func TestSliding(t *testing.T) {
	want := func(rows []int, size int) [][]int {
		runs := [][]int{}
		for i := 0; i+size <= len(rows); i++ {
			runs = append(runs, rows[i:i+size])
		}
		return runs
	}
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			for _, n := range []int{0, 1, 3, 8, 1500} {
				for _, size := range []int{1, 2, 3, 8, 9, 700} {
					got := collect(t, Sliding(Parallelize(c, upTo(n), parts), size))
					same(t, fmt.Sprintf("%d records, size %d", n, size), got, want(upTo(n), size))
				}
			}
		})
	}
	c, _ := inlineContext(t, Options{})
	sparse := FromBlocks(c, [][]int{{}, {1}, {}, {}, {2, 3}, {}, {4}, {}})
	for size := 1; size < 6; size++ {
		same(t, "empty partitions between", collect(t, Sliding(sparse, size)), want(upTo(4), size))
	}
	same(t, "a run is in the partition of its first record", partsOf(t, Sliding(sparse, 2)),
		[][][]int{nil, {{1, 2}}, nil, nil, {{2, 3}, {3, 4}}, nil, nil, nil})
	parents := Sliding(sparse, 3).Deps()[0].Narrow
	same(t, "reads", [][]int{parents(0), parents(7)}, [][]int{{0, 1, 2}, {7}})
	read := 0
	counted := Map(FromBlocks(c, [][]int{{1, 2}, upTo(2000), {3}}), func(x int) int { read++; return x })
	_ = must(Sliding(counted, 2).PrunePartitions(func(p int) bool { return p == 0 }).Collect(t.Context()))
	if read > 2+chunkSize {
		t.Errorf("%d records read for the runs of a partition of 2", read)
	}
	refs := Sliding(Parallelize(c, [][]int{{1}, {2}, {3}}, 2), 2)
	sums := Map(refs, func(w [][]int) int { w[1][0] += 10; return w[0][0] + w[1][0] })
	same(t, "runs are their receivers' own", collect(t, sums), []int{13, 15})
	_, err := Sliding(sparse, 0).Collect(t.Context())
	wantBuildErr(t, err, "sliding", ErrArgument)
	_, err = Sliding(TryMap(sparse, func(x int) (int, error) {
		if x == 4 {
			return 0, errOdd
		}
		return x, nil
	}), 2).Collect(t.Context())
	wantErr(t, "an error of the partition behind", err, errOdd)
	same(t, "reads no further than Take", must(Sliding(sparse, 2).Take(t.Context(), 2)), [][]int{{1, 2}, {2, 3}})
}

func TestCoGroupAll(t *testing.T) {
	type pairs = []Pair[string, int]
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			a := Parallelize(c, pairs{kv("x", 1), kv("y", 2), kv("x", 3)}, parts)
			b := PartitionBy(Parallelize(c, pairs{kv("z", 4), kv("x", 5)}, parts), Hash[string](1))
			got := collect(t, CoGroupAll(c, []*RDD[Pair[string, int]]{a, b, Empty[Pair[string, int]](c), a}, NumPartitions(1)))
			same(t, "groups", got, []Pair[string, [][]int]{
				kv("x", [][]int{{1, 3}, {5}, {}, {1, 3}}), kv("y", [][]int{{2}, {}, {}, {2}}), kv("z", [][]int{{}, {4}, {}, {}})})
		})
	}
	c, _ := inlineContext(t, Options{})
	same(t, "no inputs", collect(t, CoGroupAll[string, int](c, nil, NumPartitions(2))), []Pair[string, [][]int]{})
	placed := PartitionBy(Parallelize(c, pairs{kv("z", 4), kv("x", 5)}, 2), Hash[string](3))
	other := PartitionBy(Parallelize(c, pairs{kv("z", 6)}, 1), Hash[string](3))
	g := CoGroupAll(c, []*RDD[Pair[string, int]]{placed, other})
	if !g.Partitioner().Equal(Hash[string](3)) || g.Deps()[0].Shuffle != nil || g.Deps()[1].Shuffle != nil {
		t.Errorf("C19 inputs that lie alike are shuffled: %v", g.Deps())
	}
	bad := Map[int, Pair[string, int]](Parallelize(c, upTo(1), 1), nil)
	_, err := CoGroupAll(c, []*RDD[Pair[string, int]]{placed, bad}).Collect(t.Context())
	wantBuildErr(t, err, "map", ErrNilFunction)
	_, err = CoGroupAll(c, []*RDD[Pair[string, int]]{placed}, NumPartitions(-1)).Collect(t.Context())
	wantBuildErr(t, err, "cogroup", ErrArgument)
}

func TestZipPartitions3And4(t *testing.T) {
	sizes := func(seqs ...iter.Seq[int]) iter.Seq[int] {
		return func(yield func(int) bool) {
			for _, s := range seqs {
				n := 0
				for range s {
					n++
				}
				if !yield(n) {
					return
				}
			}
		}
	}
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			a, b, d := Parallelize(c, upTo(14), parts), Parallelize(c, upTo(7), parts), Parallelize(c, []int{}, parts)
			three := ZipPartitions3(a, b, d, func(x, y, z iter.Seq[int]) iter.Seq[int] { return sizes(x, y, z) })
			four := ZipPartitions4(d, a, b, a, func(w, x, y, z iter.Seq[int]) iter.Seq[int] { return sizes(w, x, y, z) })
			same(t, "three", must(three.Reduce(t.Context(), add[int])), 21)
			same(t, "four", must(four.Reduce(t.Context(), add[int])), 35)
			same(t, "first partition", partsOf(t, four)[0], []int{0, 14 / parts, 7 / parts, 14 / parts})
			_, err := ZipPartitions3(a, b, Parallelize(c, upTo(3), parts+1), func(x, _, _ iter.Seq[int]) iter.Seq[int] { return x }).Collect(t.Context())
			wantBuildErr(t, err, "zipPartitions", ErrLengths)
			_, err = ZipPartitions4(a, b, TryMap(a, func(int) (int, error) { return 0, errOdd }), b,
				func(w, x, y, z iter.Seq[int]) iter.Seq[int] { return sizes(w, x, y, z) }).Collect(t.Context())
			if err == nil || !strings.Contains(err.Error(), "odd") {
				t.Errorf("the error of an input: %v", err)
			}
		})
	}
	c, _ := inlineContext(t, Options{})
	a := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1), Hash[int](2))
	f3 := func(x, _, _ iter.Seq[Pair[int, int]]) iter.Seq[Pair[int, int]] { return x }
	f4 := func(x, _, _, _ iter.Seq[Pair[int, int]]) iter.Seq[Pair[int, int]] { return x }
	if ZipPartitions3(a, a, a, f3, PreservePartitioning()).Partitioner() == nil || ZipPartitions4(a, a, a, a, f4, PreservePartitioning()).Partitioner() == nil ||
		ZipPartitions3(a, a, a, f3).Partitioner() != nil || ZipPartitions4(a, a, a, a, f4).Partitioner() != nil {
		t.Error("L3 the partitioner is kept if and only if asked for")
	}
	same(t, "stops early", must(ZipPartitions3(a, a, a, f3).Take(t.Context(), 1)), []Pair[int, int]{kv(1, 1)})
	_, err := ZipPartitions3[int, int, int, int](Empty[int](c), Empty[int](c), Empty[int](c), nil).Collect(t.Context())
	wantBuildErr(t, err, "zipPartitions", ErrNilFunction)
	_, err = ZipPartitions4[int, int, int, int, int](Empty[int](c), Empty[int](c), Empty[int](c), Empty[int](c), nil).Collect(t.Context())
	wantBuildErr(t, err, "zipPartitions", ErrNilFunction)
}

func TestSpread(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		type action func(context.Context, *RDD[int]) (float64, error)
		for name, a := range map[string]struct {
			of        action
			four, one float64 // of 2, 4, 4, 6 and of 5
		}{
			"variance": {Variance[int], 2, 0}, "stdDev": {StdDev[int], math.Sqrt2, 0},
			"sampleVariance": {SampleVariance[int], 8.0 / 3, math.NaN()}, "sampleStdDev": {SampleStdDev[int], math.Sqrt(8.0 / 3), math.NaN()},
		} {
			for _, parts := range []int{1, 2, 7} {
				four := must(a.of(t.Context(), Parallelize(c, []int{2, 4, 4, 6}, parts)))
				one := must(a.of(t.Context(), Parallelize(c, []int{5}, parts)))
				none := must(a.of(t.Context(), Parallelize(c, []int{}, parts)))
				if !nearly(four, a.four) || !nearly(one, a.one) || !math.IsNaN(none) || !math.IsNaN(must(a.of(t.Context(), Empty[int](c)))) {
					t.Errorf("%s in %d partitions: %v %v %v", name, parts, four, one, none)
				}
			}
		}
	})
}

func TestMakeRDD(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r := MakeRDD(c, []Located[string]{{"a", []string{"h1", "h2"}}, {"b", nil}, {"c", []string{"h2"}}})
		same(t, "parts", partsOf(t, r), [][]string{{"a"}, {"b"}, {"c"}})
		same(t, "hosts", [][]string{r.Preferred(0), r.Preferred(1), r.Preferred(2)}, [][]string{{"h1", "h2"}, nil, {"h2"}})
		same(t, "none", sizeOf(t, MakeRDD[int](c, nil)), 0)
		same(t, "no rows", collect(t, MakeRDD[int](c, nil)), []int{})
	})
}

func TestPreferredLocations(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	hosts := func(rows ...[]string) *RDD[int] {
		var located []Located[int]
		for i, h := range rows {
			located = append(located, Located[int]{i, h})
		}
		return MakeRDD(c, located)
	}
	a := hosts([]string{"h1", "h2"}, nil, []string{"h3"}, []string{"h1"})
	b := hosts([]string{"h2", "h3"}, []string{"h4"}, []string{"h1", "h2", "h1"}, nil)
	double := func(x int) int { return 2 * x }
	deep := a
	for range 30 { // L6: 2^30 paths
		deep = Map(Zip(deep, deep), func(p Pair[int, int]) int { return p.Key })
	}
	for what, want := range map[string]struct {
		r     *base
		parts [][]string
	}{
		"source":    {&a.base, [][]string{{"h1", "h2"}, nil, {"h3"}, {"h1"}}},
		"map":       {&Map(Map(a, double), double).base, [][]string{{"h1", "h2"}, nil, {"h3"}, {"h1"}}},
		"zip":       {&Zip(a, b).base, [][]string{{"h2"}, {"h4"}, {"h3", "h1", "h2"}, {"h1"}}},
		"union":     {&b.Union(a).base, [][]string{{"h2", "h3"}, {"h4"}, {"h1", "h2", "h1"}, nil, {"h1", "h2"}, nil, {"h3"}, {"h1"}}},
		"coalesce":  {&a.Coalesce(2).base, [][]string{{"h1", "h2"}, {"h3", "h1"}}},
		"shuffle":   {&a.Repartition(2).base, [][]string{nil, nil}},
		"self-zips": {&deep.base, [][]string{{"h1", "h2"}, nil, {"h3"}, {"h1"}}},
	} {
		got := make([][]string, len(want.parts))
		for i := range got {
			got[i] = must(want.r.PreferredLocations(i))
		}
		same(t, what, got, want.parts)
		parts := must(want.r.Partitions())
		for i, p := range parts {
			same(t, what, p, Partition{Index: i, Hosts: want.parts[i]})
		}
		if len(parts) != len(want.parts) {
			t.Errorf("%s: %d partitions", what, len(parts))
		}
	}
	_, err := a.PreferredLocations(4)
	wantErr(t, "out of range", err, ErrArgument)
	_, err = TextFile(c, filepath.Join(t.TempDir(), "none"), 1).Partitions()
	wantErr(t, "no file", err, fs.ErrNotExist)
	same(t, "a derived RDD knows none itself", Map(a, double).Preferred(0), nil)
	deps := Zip(a, b).Dependencies()
	if len(deps) != 2 || deps[0].Parent != a.Node() || deps[1].Parent != b.Node() || len(a.Dependencies()) != 0 {
		t.Errorf("dependencies %v", deps)
	}
}

func TestSetName(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	view := c.In(lineage.Scope{}, "main.go:3", 0)
	in := Parallelize(view, upTo(4), 4)
	r := ReduceByKey(KeyBy(in, func(x int) int { return x }), add[int], NumPartitions(2)).SetName("totals")
	before := lineage.Fingerprint(r.Node())
	in.SetName("input")
	same(t, "lineage", r.DebugString(), "(2) reduceByKey[3] \"totals\" main.go:3\n +-(4) keyBy[2] main.go:3\n    |  parallelize[1] \"input\" main.go:3\n")
	if r.Name() != "totals" || in.SetName("").Name() != "" || lineage.Fingerprint(r.Node()) != before {
		t.Error("a name is not kept, or changes the fingerprint")
	}
	same(t, "no name", in.DebugString(), "(4) parallelize[1] main.go:3\n")
}

// shelf is a source of blocks.
type shelf map[string][]int

func (s shelf) Block(_ context.Context, id string) ([]int, error) {
	rows, ok := s[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return rows, nil
}

func (s shelf) Hosts(id string) []string { return []string{"host-" + id} }

func TestBlockRDD(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		blocks := shelf{"a": {1, 2}, "b": {}, "c": {3}}
		r := BlockRDD(c, blocks, []string{"c", "a", "b"})
		same(t, "parts", partsOf(t, r), [][]int{{3}, {1, 2}, nil})
		same(t, "hosts", must(r.PreferredLocations(1)), []string{"host-a"})
		_, err := BlockRDD(c, blocks, []string{"a", "gone"}).Count(t.Context())
		wantErr(t, "a missing block", err, fs.ErrNotExist)
		wantUserErr(t, err, "blockRDD", 1)
		same(t, "no blocks", sizeOf(t, BlockRDD(c, blocks, nil)), 0)
	})
	c, _ := inlineContext(t, Options{})
	_, err := BlockRDD[int](c, nil, nil).Count(t.Context())
	wantBuildErr(t, err, "blockRDD", errNoSource)
}

func TestWholeFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.txt": "two\nlines", "a.txt": "one", "_hidden": "no", "c.bin": "\x00\xff\r\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.Create(filepath.Join(dir, "d.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(packed)
	if _, err := z.Write([]byte("packed\n")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	base := func(name string) string { return filepath.Base(name) }
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, parts := range []int{1, 2, 7} {
			texts := WholeTextFiles(c, dir, parts)
			got := collect(t, Map(texts, func(p Pair[string, string]) Pair[string, string] { return kv(base(p.Key), p.Value) }))
			same(t, "texts", got, []Pair[string, string]{kv("a.txt", "one"), kv("b.txt", "two\nlines"), kv("c.bin", "\x00\xff\r\n"), kv("d.gz", "packed\n")})
			bytes := collect(t, BinaryFiles(c, filepath.Join(dir, "[c]*"), parts))
			if len(bytes) != 1 || string(bytes[0].Value) != "\x00\xff\r\n" {
				t.Errorf("bytes %v", bytes)
			}
		}
		same(t, "one partition", sizeOf(t, WholeTextFiles(c, dir, 1)), 1)
		same(t, "one a file", sizeOf(t, WholeTextFiles(c, dir, 100)), 4)
		same(t, "an empty folder", sizeOf(t, BinaryFiles(c, t.TempDir(), 2)), 0)
		missing := WholeTextFiles(c, filepath.Join(dir, "none"), 1)
		if missing.Err() != nil {
			t.Error("a missing path fails before partitions are asked for")
		}
		_, err := missing.NumPartitions()
		wantErr(t, "missing", err, fs.ErrNotExist)
		_, err = BinaryFiles(c, dir, 0).Count(t.Context())
		wantBuildErr(t, err, "binaryFiles", ErrArgument)
	})
}

func TestPipe(t *testing.T) {
	shell := func(script string) []string { return []string{"sh", "-c", script} }
	if _, err := exec.LookPath("sh"); err != nil {
		t.Log("no shell on this system: only the failure to start is tested")
	} else {
		testPipe(t, shell)
	}
	c, _ := inlineContext(t, Options{})
	_, err := Parallelize(c, upTo(1), 1).Pipe([]string{"/no/such/command"}).Collect(t.Context())
	wantErr(t, "a command that is not there", err, fs.ErrNotExist)
	wantUserErr(t, err, "pipe", 0)
	_, err = Parallelize(c, upTo(1), 1).Pipe(nil).Collect(t.Context())
	wantBuildErr(t, err, "pipe", ErrArgument)
}

func testPipe(t *testing.T, shell func(string) []string) {
	for _, parts := range []int{1, 2, 7} {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			lines := Parallelize(c, []string{"b", "", "a c"}, parts).Pipe([]string{"cat"})
			same(t, "strings", collect(t, lines), []string{"b", "", "a c"})
			same(t, "numbers", collect(t, Parallelize(c, upTo(3), parts).Pipe([]string{"cat"})), []string{"1", "2", "3"})
			each := Parallelize(c, []int{}, parts).Pipe(shell(`echo "$LEAT_TEST $#"`), "LEAT_TEST=set")
			same(t, "empty partitions, environment", collect(t, each), slices.Repeat([]string{"set 0"}, parts))
		})
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		// Far more than pipes hold, both ways at once.
		long := Map(Range(c, 0, 60_000, 1, 2), func(x int64) string { return strings.Repeat("x", int(x%50)) })
		same(t, "long", must(long.Pipe([]string{"cat"}).Count(t.Context())), 60_000)
		same(t, "a command that reads little", collect(t, long.Pipe(shell("read x; echo done"))), []string{"done", "done"})
		same(t, "a reader that stops early", len(must(Parallelize(c, upTo(1), 1).Pipe(shell("while :; do echo y; done")).Take(t.Context(), 1500))), 1500)
		_, err := Parallelize(c, upTo(3), 1).Pipe(shell("cat >/dev/null; echo some; printf 'first\\n%05000d\\nlast' 0 >&2; exit 3")).Collect(t.Context())
		var failed *ProcessError
		wantUserErr(t, err, "pipe", 0)
		if !errors.As(err, &failed) || failed.Code != 3 || !strings.HasSuffix(failed.Stderr, "\nlast") || strings.Contains(failed.Stderr, "first") ||
			len(failed.Stderr) > 4096 || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("exit code 3: %v", err)
		}
		_, err = TryMap(Parallelize(c, upTo(3), 1), func(x int) (int, error) { return 0, errOdd }).Pipe([]string{"cat"}).Collect(t.Context())
		if err == nil || !strings.Contains(err.Error(), "odd") {
			t.Errorf("an error of the input: %v", err)
		}
	})
	t.Run("the context kills it and what it started", func(t *testing.T) {
		c := newTestContext(t, newLocalRunner(t, 1, false), Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := Parallelize(c, upTo(3), 1).Pipe(shell("sleep 30 & sleep 30")).Collect(ctx)
		wantErr(t, "cancelled", err, context.DeadlineExceeded)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}
