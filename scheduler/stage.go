package scheduler

import (
	"cmp"
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
)

type stageState uint8

const (
	idle    stageState = iota // nothing under way: done, not needed yet, or about to be submitted
	waiting                   // for the outputs of its parents
	running                   // its newest task set is live
	failed                    // lost its attempt to a fetch failure, to be submitted again
	gone                      // no job uses it any more
)

// A stage is what lies between shuffles. A map stage is shared by all active jobs that read its
// shuffle and forgotten when the last of them ends; its outputs stay in the registry.
type stage struct {
	id      int
	final   lineage.Node
	parts   int
	reads   []*lineage.Shuffle // all that its nodes read, unless trimmed
	trimmed bool               // made for a trimmed job: reads is what was needed then
	shuffle *lineage.Shuffle   // what a map stage writes
	outputs *mapOutputs        // where a map stage's outputs are
	job     *job               // whose results a result stage brings
	jobs    []*job             // active users, ascending; the first one's id is the priority

	state     stageState
	attempts  int // number of the next attempt
	failures  int // attempts in a row lost to fetch failures
	lastEvent int // the number of the last beginning or end of an attempt
	set       *taskSet
	blockedOn []*stage // while waiting, ascending
	blockedAt int64    // the registry's losses when blockedOn was found

	// floor is the first attempt that sees the outputs as they are now. What older ones bring, which may
	// have read others, does not count.
	floor   int
	commits stageCommits // guarded by the loop's commits
}

// missing returns what the stage still has to run: map partitions without an output, or positions
// of the job without a result.
func (st *stage) missing() []int {
	if st.shuffle != nil {
		return lineage.Missing(st.parts, st.outputs.has)
	}
	return lineage.Missing(len(st.job.finished), func(i int) bool { return st.job.finished[i] })
}

// partition returns the partition of the stage's final node that key stands for.
func (st *stage) partition(key int) int {
	if st.job != nil {
		return st.job.spec.Parts[key]
	}
	return key
}

func setByPriority(a, b *taskSet) int { return byPriority(a.stage, b.stage) }

// byPriority orders stages by their first job, then by id.
func byPriority(a, b *stage) int {
	return cmp.Or(cmp.Compare(a.jobs[0].id, b.jobs[0].id), cmp.Compare(a.id, b.id))
}

func byID(a, b *stage) int { return cmp.Compare(a.id, b.id) }

// A taskSet is one attempt of a stage. Its tasks are numbered by index, ascending by partition.
type taskSet struct {
	stage      *stage
	attempt    int
	tasks      []setTask
	remaining  int          // tasks without a success
	queue      line         // indexes to launch, in order
	queued     int          // how many there are
	prefers    *preferences // where tasks like to run; nil: anywhere
	copies     []int        // indexes to run copies of
	pace       pace
	excluded   *setExclusion // nil while nothing has failed
	submitted  time.Time     // where somebody listens
	launchedIn int           // the last round in which something was launched
	// A zombie launches nothing more; what runs goes on and its successes count.
	zombie      bool
	fetchFailed bool // whether the attempt has been given up for a fetch failure

	properties  lineage.Properties // of the first job when the attempt began
	running     int                // attempts under way
	resultBytes int64              // of the results that came
	passed      int                // the round of offers in which it could launch nothing more
	pool        *pool              // under FAIR
	name        string             // under FAIR

	inputs      []Input // of the stage, as of inputsEpoch
	inputsEpoch int64
}

// A setTask is one partition of a task set.
type setTask struct {
	key      int // map partition, or position in the job's Parts
	failures int // that count
	launches int
	done     bool
	queued   bool
	running  int        // attempts
	ranOn    ExecutorID // who succeeded
	cached   []CachedBlock
	places   []place  // where it likes to run; nil: anywhere
	hosts    []string // of its attempts, where speculation is on
}

func newTaskSet(st *stage, attempt int, keys []int) *taskSet {
	set := &taskSet{stage: st, attempt: attempt, remaining: len(keys), inputsEpoch: -1,
		properties: st.jobs[0].spec.Properties,
		tasks:      make([]setTask, len(keys)), queue: line{indexes: make([]int, len(keys))}, queued: len(keys)}
	for i, key := range keys {
		set.tasks[i].key, set.tasks[i].queued = key, true
		set.queue.indexes[i] = i
	}
	return set
}

// pending returns how many tasks wait to be launched.
func (set *taskSet) pending() int {
	if set.zombie {
		return 0
	}
	return set.queued
}

// requeue puts an index in front.
func (set *taskSet) requeue(index int) {
	t := &set.tasks[index]
	if t.queued {
		return
	}
	t.queued = true
	set.queued++
	set.queue.pushFront(index)
	if set.prefers != nil {
		set.prefers.requeue(index, t.places)
	}
}

// unqueue takes an index out of the queue. It stays in the lines it stands in and is passed over there.
func (set *taskSet) unqueue(index int) {
	if t := &set.tasks[index]; t.queued {
		t.queued = false
		set.queued--
	}
}

// finish marks an index as done, wherever it is.
func (set *taskSet) finish(index int) {
	if t := &set.tasks[index]; !t.done {
		t.done = true
		set.remaining--
		set.unqueue(index)
	}
}

// find returns the index of key.
func (set *taskSet) find(key int) (int, bool) {
	return slices.BinarySearchFunc(set.tasks, key, func(t setTask, key int) int { return cmp.Compare(t.key, key) })
}

// An attempt is a launched task.
type attempt struct {
	task    Task
	set     *taskSet
	index   int
	killed  bool
	holds   bool // once it is over: whether it had been told that it may commit
	revoked bool // may not commit; guarded by the loop's commits
	outrun  bool // another attempt of the partition has succeeded
	copied  bool // whether the attempt is a speculative copy of another
	level   Locality
	started time.Time // zero where nobody asks
	// forget collects what was dropped while the attempt ran, so that what it stores meanwhile goes too.
	forget *lineage.Drop
}
