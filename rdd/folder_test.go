package rdd

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/keyed"
)

// mixed is as little associative as a sum can be.
func mixed(a, b int) int { return (a*31 + b) % 1_000_003 }

// combinedModel is what mixed makes of the rows of one map partition, sent to one reducer.
func combinedModel(rows []Pair[string, int], stop bool) []Pair[string, int] {
	sent := rows
	if head := rows[:min(combineSample, len(rows))]; stop {
		sent = append(foldModel(head), rows[len(head):]...)
	} else {
		sent = foldModel(rows)
	}
	return foldModel(sent)
}

func foldModel(rows []Pair[string, int]) []Pair[string, int] {
	var out []Pair[string, int]
	at := map[string]int{}
	for _, p := range rows {
		if i, ok := at[p.Key]; ok {
			out[i].Value = mixed(out[i].Value, p.Value)
			continue
		}
		at[p.Key] = len(out)
		out = append(out, p)
	}
	return out
}

// Map-side combining ends where keys do not repeat, and when it does depends on the records alone.
func TestCombineStops(t *testing.T) {
	const n = combineSample + 9000
	for _, x := range []struct {
		rows, keys int // keys among the first combineSample records
		stop       bool
	}{
		{n, combineKeys, false},
		{n, combineKeys + 1, true},
		{n, combineSample, true},
		{combineSample, combineSample, true},
		{combineSample - 1, combineSample, false},
	} {
		rows := make([]Pair[string, int], x.rows)
		distinct := map[string]bool{}
		for i := range rows {
			k := i % x.keys
			if i >= combineSample {
				k = i * 7919 % (x.keys * 2)
			}
			rows[i] = kv(fmt.Sprint("key ", k), i)
			distinct[rows[i].Key] = true
		}
		sent := len(distinct)
		if x.stop {
			sent = x.keys + x.rows - combineSample
		}
		want := combinedModel(rows, x.stop)
		memories := map[string]*inlineMemory{
			"memory":       nil,
			"no memory":    {refuse: always},
			"some memory":  {refuse: func(held, more int64) bool { return held+more > 3<<20 }},
			"other memory": {floor: 1 << 20, refuse: always},
		}
		for name, m := range memories {
			t.Run(fmt.Sprintf("%d rows, %d keys, %s", x.rows, x.keys, name), func(t *testing.T) {
				r := newInlineRunner(false)
				r.Memory = m
				c := newTestContext(t, r, Options{})
				reduced := ReduceByKey(Parallelize(c, rows, 1), mixed, NumPartitions(1))
				if got := collect(t, reduced); !slices.Equal(got, want) {
					t.Errorf("%d pairs, want %d, or others", len(got), len(want))
				}
				if got := rowsSent[string, int](r); got != sent {
					t.Errorf("%d pairs were sent, want %d", got, sent)
				}
				if m != nil {
					m.settled(t)
				}
			})
		}
	}
}

// rowsSent is how many pairs the blocks of the runner's shuffles hold.
func rowsSent[K comparable, C any](r *inlineRunner) int {
	n := 0
	for _, outputs := range r.shuffles {
		for _, buckets := range outputs {
			for _, blocks := range buckets {
				for _, b := range blocks {
					n += b.(*keyed.Block[K, C]).Rows()
				}
			}
		}
	}
	return n
}

func TestCombineOfUniqueKeys(t *testing.T) {
	const n = combineSample + 40_000
	rows := make([]Pair[string, int], n)
	sums := map[string]int{}
	for i := range rows {
		rows[i] = kv(fmt.Sprint(i%(n-20_000)), i)
		sums[rows[i].Key] += i
	}
	check := func(t *testing.T, r *RDD[Pair[string, int]]) {
		t.Helper()
		got := collect(t, r)
		for _, p := range got {
			if sums[p.Key] != p.Value {
				t.Fatalf("%s: %d, want %d", p.Key, p.Value, sums[p.Key])
			}
		}
		if len(got) != len(sums) {
			t.Errorf("%d keys, want %d", len(got), len(sums))
		}
	}
	byLength := PartitionFunc("length", 7, func(k string) int { return len(k) })
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		in := Parallelize(c, rows, 1)
		check(t, ReduceByKey(in, add[int], NumPartitions(3)))
		check(t, ReduceByKey(in, add[int], PartitionedBy(byLength)))
	})
	t.Run("zero enters once a key and map partition", func(t *testing.T) {
		c, r := inlineContext(t, Options{})
		got := collect(t, AggregateByKey(Parallelize(c, rows, 1), 10, add[int], add[int], NumPartitions(1)))
		for _, p := range got {
			if sums[p.Key]+10 != p.Value {
				t.Fatalf("%s: %d, want %d", p.Key, p.Value, sums[p.Key]+10)
			}
		}
		if sent := rowsSent[string, int](r); sent != len(sums) {
			t.Errorf("%d pairs sent for %d keys", sent, len(sums))
		}
	})
	t.Run("a panic behind the end of combining names its record", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		create := func(v int) int {
			if v == n-5 {
				panic("no")
			}
			return v
		}
		_, err := CombineByKey(Parallelize(c, rows, 1), create, add[int], add[int]).Collect(t.Context())
		var user *UserError
		if !errors.As(err, &user) || user.Offset != n-5 {
			t.Errorf("%v, want a panic at record %d", err, n-5)
		}
	})
	t.Run("blocks are put in pieces where there is no memory", func(t *testing.T) {
		r := newInlineRunner(false)
		r.Memory = &inlineMemory{refuse: always}
		c := newTestContext(t, r, Options{})
		check(t, ReduceByKey(Parallelize(c, rows, 1), add[int], NumPartitions(2)))
		for _, outputs := range r.shuffles {
			if blocks := len(outputs[0][0]); blocks < 50 {
				t.Errorf("%d blocks", blocks)
			}
		}
		r.Memory.settled(t)
	})
}
