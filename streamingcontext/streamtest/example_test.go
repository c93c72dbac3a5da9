package streamtest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// printing stands for the *testing.T of a test, which an example does not have.
type printing struct {
	testing.TB
	cleanups []func()
}

func (p *printing) Helper()          {}
func (p *printing) Name() string     { return "example" }
func (p *printing) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }
func (p *printing) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		p.Fatalf("%v", err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
func (p *printing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printing) end() {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
}

func ExampleKit_AssertEvents() {
	t := &printing{}
	defer t.end()
	kit := streamtest.New(t, streamtest.Options{})
	streamtest.Collect(kit, streamtest.Input[int](kit).Stream())
	kit.Advance(1)
	kit.AssertEvents("batch 1 submitted", "batch 1 started", "batch 1 output 0 started", "batch 1 output 0 completed", "batch 1 completed")
	kit.AssertOrder("batch 1 output 0 completed", "batch 1 submitted")
	// Output:
	// no "batch 1 submitted" behind the first 5 of the events ["streaming started" "batch 1 submitted" "batch 1 started" "batch 1 output 0 started" "batch 1 output 0 completed" "batch 1 completed"]
}

func ExampleKit_Step() {
	t := &printing{}
	defer t.end()
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	out := streamtest.Collect(kit, in.Stream())
	in.Push(1, 2, 3)
	for {
		e := kit.Step()
		fmt.Println(e)
		if e.Text == "batch 1 output 0 completed" {
			break
		}
	}
	fmt.Println(out.Batch(1))
	// Output:
	// streaming started
	// batch 1 submitted
	// batch 1 started
	// batch 1 output 0 started
	// batch 1 output 0 completed
	// [1 2 3]
}

func ExampleEquivalent() {
	t := &printing{}
	defer t.end()
	longest := func(a, b string) string {
		if len(b) > len(a) || len(b) == len(a) && b > a {
			return b
		}
		return a
	}
	one := func(s string) rdd.Pair[string, string] { return rdd.Pair[string, string]{Value: s} }
	streamtest.Equivalent(t, []string{"to", "be", "or", "not", "to", "be"},
		func(r *rdd.RDD[string]) *rdd.RDD[string] {
			return rdd.Values(rdd.ReduceByKey(rdd.Map(r, one), longest))
		},
		func(s *dstream.DStream[string]) *dstream.DStream[string] { // of all that came so far
			return dstream.ReduceByWindow(s, longest, nil, 8*time.Second, time.Second)
		},
		streamtest.EquivalenceOptions{LastBatch: true, Cuts: 3})
	fmt.Println("the longest word of a window of all batches is the longest word")
	// Output:
	// the longest word of a window of all batches is the longest word
}

func Example() {
	t := &printing{}
	defer t.end()

	// The test of a count over a window of two seconds.
	kit := streamtest.New(t, streamtest.Options{})
	words := streamtest.Input[string](kit)
	counts := streamtest.Collect(kit, dstream.CountByWindow(words.Stream(), 2*time.Second, time.Second))
	words.Push("ada", "bo")
	kit.Advance(1)
	words.Push("ada")
	kit.Advance(2)
	fmt.Println(counts.Batches())
	// Output:
	// [[2] [3] [1]]
}
