package rdd

import (
	"testing"

	"github.com/leat-io/leat/lineage"
)

// explained returns what Explain says of a small graph before any job, after one, and after losses.
func TestExplain(t *testing.T) {
	onRunners(t, Options{CheckpointDir: t.TempDir()}, func(t *testing.T, c *Context) {
		at := c.In(lineage.Scope{}, "main.go:3", 0)
		src := Parallelize(at, []string{"a", "b", "a", "c"}, 4)
		ones := Map(src, func(w string) Pair[string, int] { return kv(w, 1) }).Cache()
		sums := ReduceByKey(ones, add[int], NumPartitions(2))
		r := sums.Repartition(1)
		same(t, "before any job", Explain(r), `repartition[4] main.go:3: 1 partition, DETERMINATE
stage 0: 4 partitions, writes shuffle 3 for 2 reducers: runs
  map[2] main.go:3 [MEMORY_ONLY] 0 of 4 kept
  parallelize[1] main.go:3
stage 1: 2 partitions, writes shuffle 4 for 1 reducer: runs
  reduceByKey[3] main.go:3 <- shuffle 3 of stage 0
stage 2: 1 partition: runs
  repartition[4] main.go:3 <- shuffle 4 of stage 1
`)
		collect(t, r)
		same(t, "after a job", Explain(r), `repartition[4] main.go:3: 1 partition, DETERMINATE
stage 0: 4 partitions, writes shuffle 3 for 2 reducers: skipped, what it writes is there
  map[2] main.go:3 [MEMORY_ONLY] 4 of 4 kept
  parallelize[1] main.go:3
stage 1: 2 partitions, writes shuffle 4 for 1 reducer: skipped, what it writes is there
  reduceByKey[3] main.go:3 <- shuffle 3 of stage 0
stage 2: 1 partition: runs
  repartition[4] main.go:3 <- shuffle 4 of stage 1
`)
		c.runner.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{{Node: sums.Node().ID()}}})
		same(t, "a lost shuffle that nothing needs", Explain(r), `repartition[4] main.go:3: 1 partition, DETERMINATE
stage 0: 4 partitions, writes shuffle 3 for 2 reducers: skipped, nothing needs it
  map[2] main.go:3 [MEMORY_ONLY] 4 of 4 kept
  parallelize[1] main.go:3
stage 1: 2 partitions, writes shuffle 4 for 1 reducer: skipped, what it writes is there
  reduceByKey[3] main.go:3 <- shuffle 3 of stage 0
stage 2: 1 partition: runs
  repartition[4] main.go:3 <- shuffle 4 of stage 1
`)
		if err := r.Checkpoint(); err == nil {
			t.Error("marked too late")
		}
		again := Map(r, func(p Pair[string, int]) string { return p.Key })
		if err := again.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		same(t, "marked", again.Marks(), []string{"marked for a checkpoint"})
		collect(t, again)
		same(t, "checkpointed", Explain(again), `map[5] main.go:3: 1 partition, DETERMINATE
stage 0: 1 partition: runs
  map[5] main.go:3 [checkpointed]
  checkpoint[-5] main.go:3
`)
		same(t, "lineage", again.DebugString(), "(1) map[5] main.go:3 [checkpointed]\n |  checkpoint[-5] main.go:3\n")
	})
}

// blind is a runner that does not say what it holds.
type blind struct{ Runner }

func TestExplainWithoutAnInspector(t *testing.T) {
	c := newTestContext(t, blind{newInlineRunner(false)}, Options{})
	r := DeclareDeterminism(Parallelize(c.In(lineage.Scope{}, "main.go:3", 0), upTo(3), 1).Cache(), lineage.Unordered).Repartition(2)
	collect(t, r)
	same(t, "plan", Explain(r), `repartition[2] main.go:3: 2 partitions, INDETERMINATE
stage 0: 1 partition, writes shuffle 2 for 2 reducers: runs unless its outputs are there
  parallelize[1] main.go:3 [MEMORY_ONLY]
stage 1: 2 partitions: runs
  repartition[2] main.go:3 <- shuffle 2 of stage 0
`)
	bad := Map[int, int](Parallelize(c.In(lineage.Scope{}, "main.go:3", 2), upTo(3), 1), nil)
	same(t, "a broken one", Explain(bad), "map[4] can never be computed: main.go:3: map: function is nil\n")
}

// partly is a runner that has lost an output of every shuffle.
type partly struct{ *inlineRunner }

func (partly) Written(lineage.ShuffleID) (have, maps int) { return 1, 2 }

func TestExplainNamesWhatIsMissing(t *testing.T) {
	c := newTestContext(t, partly{newInlineRunner(false)}, Options{})
	r := Parallelize(c.In(lineage.Scope{}, "main.go:3", 0), upTo(3), 2).Repartition(2)
	same(t, "plan", Explain(r), `repartition[2] main.go:3: 2 partitions, DETERMINATE
stage 0: 2 partitions, writes shuffle 2 for 2 reducers: runs for what is missing, 1 of 2 outputs are there
  parallelize[1] main.go:3
stage 1: 2 partitions: runs
  repartition[2] main.go:3 <- shuffle 2 of stage 0
`)
}
