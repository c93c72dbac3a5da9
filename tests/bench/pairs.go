package main

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/workload"
)

// A textPair is a text key with a value.
type textPair = rdd.Pair[string, int64]

// shuffleParts is the number of partitions that what is shuffled lies in.
const shuffleParts = 4

// pairInput is pairs in memory: as the peers have them, as RDDs have them, and their sums.
type pairInput struct {
	options workload.PairsOptions
	plain   []workload.Pair
	rows    []sumPair
	want    keySums
}

// keySums is what sums by key look like: enough to tell that they are right. Digest is the sum of value
// times mixed key.
type keySums struct {
	keys        int
	sum, digest int64
}

func (k keySums) with(key, sum int64) keySums {
	return keySums{k.keys + 1, k.sum + sum, k.digest + sum*int64(workload.Mix(uint64(key)))}
}

// newPairInput returns pairs from to to-1 of the options.
func newPairInput(o workload.PairsOptions, from, to int) (in pairInput, err error) {
	source, err := workload.NewPairs(workload.DefaultSeed, o)
	if err != nil {
		return in, err
	}
	in.options = o
	if in.plain, err = source.Append(make([]workload.Pair, 0, to-from), from, to); err != nil {
		return in, err
	}
	sums := newTable64(source.Keys())
	for _, p := range in.plain {
		in.rows = append(in.rows, sumPair{Key: p.Key, Value: p.Value})
		sums.put(p.Key, p.Value, add)
	}
	for key, sum := range sums {
		if sum != absent {
			in.want = in.want.with(int64(key), sum)
		}
	}
	if want, ok := workload.PairsWant(o); ok && from == 0 && to == int(workload.M) {
		if in.want.sum != want.Sum || in.want.keys != want.Distinct {
			return in, fmt.Errorf("the pairs have %d keys and sum to %d, want %d and %d", in.want.keys, in.want.sum, want.Distinct, want.Sum)
		}
	}
	return in, nil
}

func (in pairInput) rdd(c *rdd.Context) *rdd.RDD[sumPair] { return rdd.FromBlocks(c, cut(in.rows)) }

// cut returns rows in shuffleParts partitions that lie one behind the other.
func cut[T any](rows []T) [][]T { return cutInto(rows, shuffleParts) }

func cutInto[T any](rows []T, n int) [][]T {
	parts := make([][]T, n)
	for i := range parts {
		parts[i] = rows[i*len(rows)/n : (i+1)*len(rows)/n]
	}
	return parts
}

// check compares sums with those of the input.
func (in pairInput) check(got keySums) error { return sameSums(got, in.want) }

func sameSums(got, want keySums) error {
	if got != want {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}

// reduced is a subject that sums by key with leat, from as many partitions into as many, and collects.
func (in pairInput) reduced(name string, e *engine, cores, parts int, opts ...rdd.KeyOption) subject {
	var pairs []sumPair
	opts = append([]rdd.KeyOption{rdd.NumPartitions(parts)}, opts...)
	blocks := cutInto(in.rows, parts)
	return subject{
		name: name, procs: cores,
		work: func(ctx context.Context) (err error) {
			pairs, err = rdd.ReduceByKey(rdd.FromBlocks(e.fresh(), blocks), add, opts...).Collect(ctx)
			return err
		},
		check: func() error {
			var got keySums
			for _, p := range pairs {
				got = got.with(p.Key, p.Value)
			}
			pairs = nil
			return in.check(got)
		},
	}
}

// mapped is a subject that sums by key with one map.
func (in pairInput) mapped(name string, cores int, sum func() map[int64]int64) subject {
	var sums map[int64]int64
	return subject{
		name: name, procs: cores,
		work: func(context.Context) error {
			sums = sum()
			return nil
		},
		check: func() error {
			var got keySums
			for key, sum := range sums {
				got = got.with(key, sum)
			}
			sums = nil
			return in.check(got)
		},
	}
}

// textPairs is pairs with text keys in memory, and their sums.
type textPairs struct {
	plain []workload.TextPair
	rows  []textPair
	want  keySums
}

func newTextPairs(size workload.Size, keys int) (in textPairs, err error) {
	source, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: keys})
	if err != nil {
		return in, err
	}
	if in.plain, err = source.AppendText(make([]workload.TextPair, 0, size), 0, size.Records()); err != nil {
		return in, err
	}
	numbers, err := newPairInput(workload.PairsOptions{Keys: keys}, 0, size.Records())
	if err != nil {
		return in, err
	}
	in.want = numbers.want
	// The two types have the same fields, so one copy serves both: a second one would be more for the
	// garbage collector to look through, at the cost of whoever is measured.
	in.rows = unsafe.Slice((*textPair)(unsafe.Pointer(unsafe.SliceData(in.plain))), len(in.plain))
	const wantM = 499_637_432
	if size == workload.M && in.want.sum != wantM {
		return in, fmt.Errorf("the pairs sum to %d, want %d", in.want.sum, wantM)
	}
	return in, nil
}

func (in textPairs) rdd(c *rdd.Context) *rdd.RDD[textPair] { return rdd.FromBlocks(c, cut(in.rows)) }

var errNoKey = errors.New("key is not k and eight digits")

// number returns the number in a key.
func (in textPairs) number(key string) (n int64, err error) {
	if len(key) != 9 || key[0] != 'k' {
		return 0, fmt.Errorf("%q: %w", key, errNoKey)
	}
	for _, c := range []byte(key[1:]) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q: %w", key, errNoKey)
		}
		n = 10*n + int64(c-'0')
	}
	return n, nil
}

// reduced is a subject that sums by key with leat, from as many partitions into as many, and collects.
func (in textPairs) reduced(name string, e *engine, cores, parts int, opts ...rdd.KeyOption) subject {
	var pairs []textPair
	opts = append([]rdd.KeyOption{rdd.NumPartitions(parts)}, opts...)
	blocks := cutInto(in.rows, parts)
	return subject{
		name: name, procs: cores,
		work: func(ctx context.Context) (err error) {
			pairs, err = rdd.ReduceByKey(rdd.FromBlocks(e.fresh(), blocks), add, opts...).Collect(ctx)
			return err
		},
		check: func() error {
			var got keySums
			for _, p := range pairs {
				key, err := in.number(p.Key)
				if err != nil {
					return err
				}
				got = got.with(key, p.Value)
			}
			pairs = nil
			return sameSums(got, in.want)
		},
	}
}

// mapped is a subject that sums by key with one map.
func (in textPairs) mapped(name string, cores int, sum func() map[string]int64) subject {
	var sums map[string]int64
	return subject{
		name: name, procs: cores,
		work: func(context.Context) error {
			sums = sum()
			return nil
		},
		check: func() error {
			var got keySums
			for text, sum := range sums {
				key, err := in.number(text)
				if err != nil {
					return err
				}
				got = got.with(key, sum)
			}
			sums = nil
			return sameSums(got, in.want)
		},
	}
}
