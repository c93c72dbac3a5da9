package streamtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// EquivalenceOptions set up Equivalent. The zero value compares the rows of all batches.
type EquivalenceOptions struct {
	// LastBatch compares the rows of the last batch only, as for a running state. Otherwise those of all batches count
	// together.
	LastBatch bool
	// Idle is how many batches without input follow the input, as windows need them.
	Idle int
	// Cuts is how many random cuts into batches are tried for each number of partitions. 0 means 10.
	Cuts int
	// MaxBatches bounds the batches of a cut. 0 means 8.
	MaxBatches int
	// Seed makes the same cuts again: a failure names it. 0 means 1.
	Seed uint64
	// Partitions are the numbers of partitions, of inputs and shuffles. None means 1, 2 and 7.
	Partitions []int
	// Kit sets up the kits; its Partitions and the engine's DefaultParallelism are set by Equivalent.
	Kit Options
}

// Equivalent fails the test unless batch and stream give the same answer: batch over all input as one RDD, and
// stream over the input cut into batches, some of them empty, in many random ways and over several numbers of
// partitions. Rows are compared without regard to their order, by what fmt makes of them with %#v, so that pointers
// differ from each other.
//
// Cost: a context, and batch as well as stream once, for each cut.
func Equivalent[T, U any](t testing.TB, input []T, batch func(*rdd.RDD[T]) *rdd.RDD[U], stream func(*dstream.DStream[T]) *dstream.DStream[U], opts EquivalenceOptions) {
	t.Helper()
	if opts.Cuts == 0 {
		opts.Cuts = 10
	}
	if opts.MaxBatches == 0 {
		opts.MaxBatches = 8
	}
	if opts.Seed == 0 {
		opts.Seed = 1
	}
	if len(opts.Partitions) == 0 {
		opts.Partitions = []int{1, 2, 7}
	}
	rng := rand.New(rand.NewPCG(opts.Seed, 0))
	for range opts.Cuts {
		cut := cutOf(rng, len(input), opts.MaxBatches)
		for _, parts := range opts.Partitions {
			got, want, err := bothForms(t, input, batch, stream, cut, parts, opts)
			how := fmt.Sprintf("batches end at rows %v, %d partitions, seed %d", cut, parts, opts.Seed)
			if err != nil {
				t.Fatalf("%s: %v", how, err)
				return
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatalf("%s: the stream differs from the batch (-stream +batch):\n%s", how, diff)
				return
			}
		}
	}
}

// cutOf returns where batches end: up to n of them, of rows in all.
func cutOf(rng *rand.Rand, rows, n int) []int {
	cut := make([]int, 1+rng.IntN(n))
	for i := range cut {
		cut[i] = rng.IntN(rows + 1)
	}
	cut[0] = rows
	slices.Sort(cut)
	return cut
}

// bothForms returns the rows of both forms, printed and sorted.
func bothForms[T, U any](t testing.TB, input []T, batch func(*rdd.RDD[T]) *rdd.RDD[U], stream func(*dstream.DStream[T]) *dstream.DStream[U], cut []int, parts int, opts EquivalenceOptions) (got, want []string, err error) {
	t.Helper()
	o := opts.Kit
	o.Partitions, o.Engine.DefaultParallelism = parts, parts
	kit := New(t, o)
	defer func() {
		stopped := kit.ssc.Stop(context.Background(), streamingcontext.StopOptions{})
		if err == nil {
			err = stopped
		}
	}()
	feed := Input[T](kit)
	out := Collect(kit, stream(feed.Stream()))
	begin := 0
	for _, end := range cut {
		feed.Push(input[begin:end]...)
		begin = end
		if err := kit.TryAdvance(1); err != nil {
			return nil, nil, fmt.Errorf("stream: %w", err)
		}
	}
	if err := kit.TryAdvance(opts.Idle); err != nil {
		return nil, nil, fmt.Errorf("stream: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), kit.opts.Timeout)
	defer cancel()
	rows, err := batch(rdd.Parallelize(kit.ssc.RDDs(), slices.Clone(input), parts)).Collect(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("batch: %w", err)
	}
	if opts.LastBatch {
		return printed(out.At(kit.Now())), printed(rows), nil
	}
	return printed(slices.Concat(out.Batches()...)), printed(rows), nil
}

func printed[U any](rows []U) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = fmt.Sprintf("%#v", row)
	}
	slices.Sort(out)
	return out
}
