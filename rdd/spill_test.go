package rdd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// A spillCase makes an operator's RDD, as text, from rows.
type spillCase[K comparable] struct {
	name string
	make func(c *Context, in []Pair[K, string], parts int) *RDD[string]
}

// exact is the text of records, with nil slices apart from empty ones.
func exact[T any](r *RDD[T]) *RDD[string] {
	return Map(r, func(x T) string { return fmt.Sprintf("%#v", x) })
}

// bracket is as far from associative as can be.
func bracket(a, b string) string { return "(" + a + b + ")" }

// listed holds a reference.
type listed struct {
	List []string
	N    *int
}

func (l listed) GoString() string { return fmt.Sprintf("%v#%d", l.List, *l.N) }

func newListed(s string) listed {
	n := len(s)
	return listed{[]string{s}, &n}
}

func (l listed) plus(s string) listed {
	*l.N += len(s)
	return listed{append(l.List, s), l.N}
}

func (l listed) and(m listed) listed {
	*l.N -= *m.N
	return listed{append(append(l.List, "|"), m.List...), l.N}
}

// keyedCases are the operators by key.
func keyedCases[K comparable]() []spillCase[K] {
	type pairs = []Pair[K, string]
	return []spillCase[K]{
		{"reduceByKey", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(ReduceByKey(Parallelize(c, in, n), bracket, NumPartitions(n)))
		}},
		{"combineByKey in place", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(CombineByKey(PartitionBy(Parallelize(c, in, 2), Hash[K](n)), newListed, listed.plus, listed.and))
		}},
		{"groupByKey", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(GroupByKey(Parallelize(c, in, n), NumPartitions(n)))
		}},
		{"subtractByKey", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(SubtractByKey(Parallelize(c, in, n), Parallelize(c, in[:len(in)/20], 2), NumPartitions(n)))
		}},
		{"distinct", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(Distinct(Keys(Parallelize(c, in, n))))
		}},
	}
}

// orderedCases are operators that need no more than one type of key to be tested with.
func orderedCases() []spillCase[string] {
	type pairs = []Pair[string, string]
	list := func(r *RDD[Pair[string, string]]) *RDD[Pair[string, listed]] { return MapValues(r, newListed) }
	return append(keyedCases[string](),
		spillCase[string]{"reduceByKey uncombined", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(ReduceByKey(Parallelize(c, in, n), bracket, NumPartitions(2), WithoutMapSideCombine()))
		}},
		spillCase[string]{"combineByKey", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(CombineByKey(Parallelize(c, in, n), newListed, listed.plus, listed.and, NumPartitions(2)))
		}},
		spillCase[string]{"cogroup", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(CoGroup(Parallelize(c, in[len(in)/3:], n), Parallelize(c, in[:len(in)/2], 2), NumPartitions(n)))
		}},
		spillCase[string]{"distinct in place", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(Distinct(PartitionBy(Parallelize(c, in, 2), Hash[string](n))))
		}},
		spillCase[string]{"partitionBy", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(PartitionBy(Parallelize(c, in, n), Hash[string](3)))
		}},
		spillCase[string]{"aggregateByKey", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(AggregateByKey(Parallelize(c, in, n), 0.1, func(sum float64, s string) float64 { return sum*1.1 + float64(len(s)) },
				func(a, b float64) float64 { return a/3 + b }, NumPartitions(2)))
		}},
		spillCase[string]{"counts", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(Counts(Values(Parallelize(c, in, n)), NumPartitions(n)))
		}},
		spillCase[string]{"reduceByKey with a partition function", func(c *Context, in pairs, n int) *RDD[string] {
			p := PartitionFunc("length", n, func(k string) int { return len(k) % n })
			return exact(ReduceByKey(Parallelize(c, in, n), bracket, PartitionedBy(p)))
		}},
		spillCase[string]{"groupByKey of references", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(GroupByKey(list(Parallelize(c, in, n)), NumPartitions(2)))
		}},
		spillCase[string]{"cogroup of three", func(c *Context, in pairs, n int) *RDD[string] {
			a := Parallelize(c, in, n)
			return exact(CoGroup3(a, list(Parallelize(c, in[:len(in)/4], 1)), Parallelize(c, in[len(in)/2:], 2), NumPartitions(n)))
		}},
		spillCase[string]{"cogroup of four", func(c *Context, in pairs, n int) *RDD[string] {
			a, b := Parallelize(c, in[len(in)/4:], n), Parallelize(c, in[:len(in)/2], 2)
			return exact(CoGroup4(b, a, b, list(a), NumPartitions(2)))
		}},
		spillCase[string]{"full outer join", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(FullOuterJoin(Parallelize(c, in[len(in)-len(in)/4:], n), Parallelize(c, in[:len(in)/5], 2), NumPartitions(n)))
		}},
		spillCase[string]{"intersection", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(Intersection(Keys(Parallelize(c, in[:len(in)/2], n)), Keys(Parallelize(c, in[len(in)/3:], n))))
		}},
		spillCase[string]{"repartition", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(list(Parallelize(c, in, 2)).Repartition(n))
		}},
		spillCase[string]{"zip", func(c *Context, in pairs, n int) *RDD[string] {
			a := list(Parallelize(c, in, n))
			return exact(Zip(a, Map(a, func(p Pair[string, listed]) string { return p.Key })))
		}},
		spillCase[string]{"repartitionAndSortWithinPartitions", func(c *Context, in pairs, n int) *RDD[string] {
			return exact(RepartitionAndSortWithinPartitions(Parallelize(c, in, 2), Hash[string](n)))
		}},
		spillCase[string]{"sortBy", func(c *Context, in pairs, n int) *RDD[string] { return exact(sortedBy(c, in, n)) }},
		spillCase[string]{"sortBy descending", func(c *Context, in pairs, n int) *RDD[string] { return exact(sortedBy(c, in, n, Descending())) }},
		spillCase[string]{"two shuffles", func(c *Context, in pairs, n int) *RDD[string] {
			sums := ReduceByKey(Parallelize(c, in, n), bracket, NumPartitions(n))
			return exact(GroupByKey(Map(sums, func(p Pair[string, string]) Pair[int, string] { return kv(len(p.Value)%7, p.Key) }), NumPartitions(2)))
		}},
	)
}

func sortedBy(c *Context, in []Pair[string, string], n int, opts ...SortOption) *RDD[Pair[string, listed]] {
	rows := MapValues(Parallelize(c, in, n), newListed)
	length := func(p Pair[string, listed]) float64 {
		if len(p.Key)%5 == 0 {
			return math.NaN()
		}
		return float64(len(p.Value.List[0]))
	}
	r, err := SortBy(context.Background(), rows, length, append(opts, SortPartitions(n))...)
	return must(r, err)
}

// checkSpill compares an operator without and with refusals.
func checkSpill[K comparable](t fataler, x spillCase[K], in []Pair[K, string], parts int, memory *inlineMemory) {
	run := func(m *inlineMemory) ([][]string, error) {
		r := newInlineRunner(parts == 2)
		r.Memory = m
		c, err := NewContext(r, Options{})
		if err != nil {
			return nil, err
		}
		return x.make(c, in, parts).CollectPartitions(context.Background())
	}
	want, err := run(nil)
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	got, err := run(memory)
	if err != nil {
		t.Fatalf("%s with refusals: %v", x.name, err)
	}
	for p := range want {
		if !slices.Equal(got[p], want[p]) {
			for i := range want[p] {
				if i >= len(got[p]) || got[p][i] != want[p][i] {
					t.Fatalf("%s, partition %d, row %d of %d (%d without refusals):\n got %.200s\nwant %.200s", x.name, p, i, len(got[p]), len(want[p]), at(got[p], i), want[p][i])
				}
			}
			t.Fatalf("%s, partition %d: %d rows, want %d", x.name, p, len(got[p]), len(want[p]))
		}
	}
	if memory.open != 0 || memory.held != 0 || memory.released {
		t.Fatalf("%s: %d files open, %d bytes reserved", x.name, memory.open, memory.held)
	}
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "nothing"
}

// fataler is a test or a run of rapid.
type fataler interface {
	Fatalf(format string, args ...any)
}

// spillRows are rows whose values tell them apart.
func spillRows[K comparable](random *rand.Rand, n, keys, width int, key func(i int) K) []Pair[K, string] {
	rows := make([]Pair[K, string], n)
	for i := range rows {
		k := random.IntN(keys)
		if random.IntN(3) == 0 {
			k = random.IntN(keys/20 + 1) // some come often
		}
		rows[i] = kv(key(k), fmt.Sprint(i%10, strings.Repeat("v", random.IntN(width+1))))
	}
	return rows
}

// compound is a key of several fields.
type compound struct {
	Name string
	At   float64
}

func stringKey(i int) string { return fmt.Sprint("k", i, strings.Repeat("-", i%23)) }
func intKey(i int) int       { return i*64 - 1000 }
func floatKey(i int) float64 {
	switch i % 50 {
	case 0:
		return math.NaN()
	case 1:
		return math.Copysign(0, -1)
	case 2:
		return 0
	}
	return float64(i) / 7
}
func compoundKey(i int) compound { return compound{stringKey(i % 91), floatKey(i % 11)} }

// Every operator gives the same rows in the same order when it gets no memory at all.
func TestSpillAlways(t *testing.T) {
	spillAlways(t, "string", orderedCases(), stringKey)
	spillAlways(t, "int", keyedCases[int](), intKey)
	spillAlways(t, "float64", keyedCases[float64](), floatKey)
	spillAlways(t, "struct", keyedCases[compound](), compoundKey)
}

func spillAlways[K comparable](t *testing.T, name string, cases []spillCase[K], key func(int) K) {
	for _, x := range cases {
		t.Run(name+" "+x.name, func(t *testing.T) {
			for _, parts := range []int{1, 2, 7} {
				m := &inlineMemory{refuse: always}
				checkSpill(t, x, spillRows(newRandom(uint64(parts)), 6000, 900, 12, key), parts, m)
				// What deals rows out by position or partition alone needs no file.
				if m.refused == 0 || m.opened == 0 && x.name != "partitionBy" && x.name != "repartition" {
					t.Errorf("%d partitions: %d refusals, %d files", parts, m.refused, m.opened)
				}
				if m.opened > 0 && m.spilled == 0 {
					t.Error("no spilled rows were counted")
				}
			}
		})
	}
}

// Nor does it depend on when memory is refused.
func TestSpillSchedules(t *testing.T) {
	t.Run("string", func(t *testing.T) { spillSchedules(t, orderedCases(), stringKey) })
	t.Run("float64", func(t *testing.T) { spillSchedules(t, keyedCases[float64](), floatKey) })
	t.Run("struct", func(t *testing.T) { spillSchedules(t, keyedCases[compound](), compoundKey) })
}

func spillSchedules[K comparable](t *testing.T, cases []spillCase[K], key func(int) K) {
	rapid.Check(t, func(rt *rapid.T) {
		x := cases[rapid.IntRange(0, len(cases)-1).Draw(rt, "operator")]
		random := newRandom(rapid.Uint64().Draw(rt, "seed"))
		n := rapid.IntRange(0, 4000).Draw(rt, "rows")
		in := spillRows(random, n, rapid.IntRange(1, 1500).Draw(rt, "keys"), rapid.IntRange(0, 40).Draw(rt, "width"), key)
		limit := int64(rapid.IntRange(0, 400).Draw(rt, "memory")) << 10
		odds := rapid.IntRange(0, 4).Draw(rt, "odds")
		m := &inlineMemory{
			floor:  int64(rapid.IntRange(0, 100).Draw(rt, "floor")) << 10,
			refuse: func(held, more int64) bool { return held+more > 4*limit || random.IntN(5) < odds },
		}
		checkSpill(rt, x, in, rapid.SampledFrom([]int{1, 2, 7}).Draw(rt, "partitions"), m)
	})
}

// Keys that go to one bucket are told apart a level deeper; rows of one key cannot be.
func TestSpillLevels(t *testing.T) {
	var together []string // keys whose buckets at two levels are the same
	h := Hash[string](1).hasher
	for i := 0; len(together) < 1500; i++ {
		if k := fmt.Sprint(i); spillBucket(h.Hash(k), 0) == 5 && spillBucket(h.Hash(k), 1) == 3 {
			together = append(together, k)
		}
	}
	byKey := []string{"reduceByKey", "combineByKey", "groupByKey", "cogroup", "subtractByKey", "distinct"}
	for _, x := range orderedCases() {
		t.Run(x.name, func(t *testing.T) {
			for what, key := range map[string]func(int) string{
				"one bucket": func(i int) string { return together[i%len(together)] },
				"one key":    func(int) string { return "k" },
			} {
				m := &inlineMemory{refuse: always}
				checkSpill(t, x, spillRows(newRandom(3), 4000, 1500, 3, key), 1, m)
				if deep := m.opened > 4; what == "one bucket" && slices.Contains(byKey, x.name) && !deep {
					t.Errorf("%s: %d files", what, m.opened)
				}
			}
		})
	}
}

// A file that is damaged or full ends the task with an error that says whose it is.
func TestSpillFaults(t *testing.T) {
	in := spillRows(newRandom(4), 4000, 900, 12, stringKey)
	for _, x := range orderedCases() {
		t.Run(x.name, func(t *testing.T) {
			for what, m := range map[string]*inlineMemory{
				"damaged": {refuse: always, damage: func(_ int, frame []byte) { frame[len(frame)/2] ^= 1 }},
				"full":    {refuse: always, full: 3},
			} {
				r := newInlineRunner(false)
				r.Memory = m
				_, err := x.make(newTestContext(t, r, Options{}), in, 2).Collect(t.Context())
				if m.opened == 0 {
					continue
				}
				if want := map[string]error{"damaged": codec.ErrCorrupt, "full": errFull}[what]; !errors.Is(err, want) || !strings.Contains(err.Error(), "spilled rows") {
					t.Errorf("%s: %v", what, err)
				}
				m.settled(t)
			}
		})
	}
}

// Keys that are interfaces are looked at on their way to a file too.
func TestSpillInterfaceKeys(t *testing.T) {
	rows := make([]Pair[any, int], 3000)
	for i := range rows {
		rows[i] = kv[any](i%900, i)
		if i%3 == 0 {
			rows[i].Key = stringKey(i % 900)
		}
	}
	run := func(m *inlineMemory) (out []string, err error) {
		r := newInlineRunner(false)
		r.Memory = m
		in := Map(Parallelize(newTestContext(t, r, Options{}), upTo(len(rows)), 2), func(i int) Pair[any, int] { return rows[i-1] })
		a, err := text(GroupByKey(in, NumPartitions(1))).Collect(t.Context())
		b, err2 := text(ReduceByKey(in, func(a, b int) int { return a*3 + b }, NumPartitions(1))).Collect(t.Context())
		return append(a, b...), errors.Join(err, err2)
	}
	want, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &inlineMemory{refuse: always}
	if got, err := run(m); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, or other rows", err)
	}
	m.settled(t)
	rows[2900].Key = new(int)
	_, err = run(m)
	var user *UserError
	if wantErr(t, "a key of identity", err, keyed.ErrBadKeyType); !errors.As(err, &user) || user.Offset != 2900-1500 {
		t.Errorf("%v, want record %d", err, 2900-1500)
	}
	m.settled(t)
}

// A panic of a function names the record, also when that comes from a file.
func TestSpillPanic(t *testing.T) {
	var rows []Pair[int, int]
	for i := range 3000 {
		rows = append(rows, kv(i%700, i))
	}
	f := func(a, b int) int {
		if b == 2790 {
			panic("not this one")
		}
		return a + b
	}
	for _, m := range []*inlineMemory{nil, {refuse: always}} {
		r := newInlineRunner(false)
		r.Memory = m
		_, err := ReduceByKey(Parallelize(newTestContext(t, r, Options{}), rows, 1), f).Collect(t.Context())
		var user *UserError
		if !errors.As(err, &user) || user.Offset != 2790 || user.Op != "reduceByKey" {
			t.Errorf("refusing %t: %v, want a panic at record 2790", m != nil, err)
		}
		if m != nil {
			m.settled(t)
		}
	}
}

// Records that no codec takes are kept in memory, whatever is refused.
func TestSpillWithoutCodec(t *testing.T) {
	for _, m := range []*inlineMemory{{}, {refuse: always}} {
		r := newInlineRunner(false)
		r.Memory = m
		c := newTestContext(t, r, Options{})
		in := Map(Parallelize(c, upTo(5000), 2), func(i int) Pair[int, secret] { return kv(i%800, secret{i}) })
		sums := ReduceByKey(in, func(a, b secret) secret { return secret{2*a.n + b.n} }, NumPartitions(1))
		groups := GroupByKey(in, NumPartitions(1))
		got := collect(t, text(sums))
		got = append(got, collect(t, text(groups))...)
		got = append(got, collect(t, text(SubtractByKey(in, Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1))))...)
		plain := inMemory(t)
		if !slices.Equal(got, plain) {
			t.Error("the rows differ")
		}
		m.settled(t)
	}
}

func inMemory(t *testing.T) []string {
	c, _ := inlineContext(t, Options{})
	in := Map(Parallelize(c, upTo(5000), 2), func(i int) Pair[int, secret] { return kv(i%800, secret{i}) })
	got := collect(t, text(ReduceByKey(in, func(a, b secret) secret { return secret{2*a.n + b.n} }, NumPartitions(1))))
	got = append(got, collect(t, text(GroupByKey(in, NumPartitions(1))))...)
	return append(got, collect(t, text(SubtractByKey(in, Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1))))...)
}

// More runs than are merged at once are merged in passes, and equal keys stay in the order of their rows.
func TestSortPasses(t *testing.T) {
	m := &inlineMemory{refuse: always}
	r := newInlineRunner(false)
	r.Memory = m
	c := newTestContext(t, r, Options{})
	in := Map(Parallelize(c, upTo(100_000), 1), func(i int) Pair[int, int] { return kv(i*7919%100, i) })
	rows := collect(t, must(SortByKey(t.Context(), in, SortPartitions(1))))
	if !slices.IsSortedFunc(rows, func(a, b Pair[int, int]) int { return cmp.Or(a.Key-b.Key, a.Value-b.Value) }) || len(rows) != 100_000 {
		t.Error("not sorted, or not stable")
	}
	if m.opened < 2 { // of the runs, and of what they were merged to
		t.Errorf("%d files: no passes", m.opened)
	}
	m.settled(t)
}
