package rdd

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/scheduler"
)

// Speculation judges attempts by the rows they have read, so tasks must count them.
func TestTasksCountTheirRows_E4(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		var in, fetched, shuffled atomic.Int64
		r := newLocalRunner(t, 1, isolate, scheduler.Listener{TaskEnded: func(e scheduler.TaskEnded) {
			in.Add(e.Metrics.InputRows)
			fetched.Add(e.Metrics.FetchedRows)
			shuffled.Add(e.Metrics.ShuffleRows)
		}})
		c := newTestContext(t, r, Options{})
		numbers := Map(Parallelize(c, upTo(1000), 4), func(x int) Pair[int, int] { return Pair[int, int]{Key: x % 10, Value: x} }).Cache()
		must(numbers.Count(t.Context()))                                                   // 1,000 of the source, 1,000 kept
		must(ReduceByKey(numbers, func(a, b int) int { return a + b }).Count(t.Context())) // 1,000 kept; 10 keys of 4 tasks
		must(PartitionBy(numbers, Hash[int](3)).Count(t.Context()))                        // 1,000 kept, and all shuffled
		if err := r.Close(); err != nil {                                                  // the listener has heard all then
			t.Fatal(err)
		}
		if in.Load() != 4000 || fetched.Load() != 1040 || shuffled.Load() != 1040 {
			t.Errorf("isolate %t: %d rows read, %d fetched, %d shuffled", isolate, in.Load(), fetched.Load(), shuffled.Load())
		}
	}
}

func TestTasksCountWhatTheyReadAndWrite_E4(t *testing.T) {
	var read, written, rows atomic.Int64
	r := newLocalRunner(t, 1, false, scheduler.Listener{TaskEnded: func(e scheduler.TaskEnded) {
		read.Add(e.Metrics.InputBytes)
		written.Add(e.Metrics.OutputBytes)
		rows.Add(e.Metrics.OutputRows)
	}})
	c := newTestContext(t, r, Options{})
	dir := filepath.Join(t.TempDir(), "out")
	must(0, Parallelize(c, []string{"a", "bc", "def"}, 2).SaveAsTextFile(t.Context(), dir))
	must(TextFile(c, dir, 2).Count(t.Context()))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if read.Load() != 9 || written.Load() != 9 || rows.Load() != 3 {
		t.Errorf("%d bytes read, %d written, %d rows written; want 9, 9 and 3", read.Load(), written.Load(), rows.Load())
	}
}
