package scheduler

import (
	"cmp"
	"slices"

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
	set       *taskSet
	blockedOn []*stage // while waiting
}

func (st *stage) info() StageInfo {
	i := StageInfo{Stage: st.id, Op: st.final.Op(), Site: st.final.Site(), Map: st.shuffle != nil}
	if st.shuffle != nil {
		i.Shuffle = st.shuffle.ID
	}
	return i
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

// byPriority orders stages by their first job, then by id.
func byPriority(a, b *stage) int {
	return cmp.Or(cmp.Compare(a.jobs[0].id, b.jobs[0].id), cmp.Compare(a.id, b.id))
}

// A taskSet is one attempt of a stage. Its tasks are numbered by index, ascending by partition.
type taskSet struct {
	stage     *stage
	attempt   int
	tasks     []setTask
	remaining int   // tasks without a success
	queue     []int // indexes to launch, in order
	head      int   // where queue begins
	prefers   bool  // whether some task prefers an executor
	// A zombie launches nothing more; what runs goes on and its successes count.
	zombie      bool
	fetchFailed bool // whether the attempt has been given up for a fetch failure

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
	ranOn    ExecutorID // who succeeded
	cached   []CachedBlock
}

func newTaskSet(st *stage, attempt int, keys []int) *taskSet {
	set := &taskSet{stage: st, attempt: attempt, remaining: len(keys), inputsEpoch: -1,
		tasks: make([]setTask, len(keys)), queue: make([]int, len(keys))}
	for i, key := range keys {
		set.tasks[i].key, set.tasks[i].queued = key, true
		set.queue[i] = i
	}
	return set
}

func (set *taskSet) pending() int { return len(set.queue) - set.head }

// requeue puts an index in front.
func (set *taskSet) requeue(index int) {
	set.tasks[index].queued = true
	if set.head > 0 {
		set.head--
		set.queue[set.head] = index
		return
	}
	set.queue = slices.Insert(set.queue, 0, index)
}

// finish marks an index as done, wherever it is.
func (set *taskSet) finish(index int) {
	if t := &set.tasks[index]; !t.done {
		t.done = true
		set.remaining--
		if !t.queued {
			return
		}
		t.queued = false
		if i := slices.Index(set.queue[set.head:], index); i >= 0 {
			set.queue = slices.Delete(set.queue, set.head+i, set.head+i+1)
		}
	}
}

// find returns the index of key.
func (set *taskSet) find(key int) (int, bool) {
	return slices.BinarySearchFunc(set.tasks, key, func(t setTask, key int) int { return cmp.Compare(t.key, key) })
}

// An attempt is a launched task.
type attempt struct {
	task   Task
	set    *taskSet
	index  int
	killed bool
	// forget collects what was dropped while the attempt ran, so that what it stores meanwhile goes too.
	forget *lineage.Drop
}
