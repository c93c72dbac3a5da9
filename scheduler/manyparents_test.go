package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A lookedAt counts how often somebody walks over a node's lineage.
type lookedAt struct {
	*schedulertest.Node
	times int
}

func (n *lookedAt) Deps() []lineage.Dep {
	n.times++
	return n.Node.Deps()
}

// collectMany is a job whose last stage reads so many shuffles of one partition each.
func collectMany(parents int) (lineage.Job, *lookedAt) {
	g := new(schedulertest.Graph)
	var all *schedulertest.Node
	for i := range parents {
		source := g.Source(fmt.Sprintf("source%d", i), 1, nil)
		if read := g.Shuffle(fmt.Sprintf("read%d", i), source, 1); all == nil {
			all = read
		} else {
			all = g.Union("union", all, read)
		}
	}
	job, _ := schedulertest.CollectParts(all, []int{0})
	final := &lookedAt{Node: all}
	job.Final = final
	return job, final
}

// TestManyParentsCostOneLookEach runs stages that read many shuffles: what they still need is not looked for each time one of the
// shuffles has been written, or a window over a thousand batches would walk a thousand times over all of them.
func TestManyParentsCostOneLookEach(t *testing.T) {
	looks := map[int]int{}
	for _, parents := range []int{5, 500} {
		backend := new(schedulertest.Scripted)
		loop := scheduler.NewScriptLoop(backend, scheduler.Options{})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Host: "a", Slots: 1})
		job, final := collectMany(parents)
		job.Trimmed = true
		loop.Submit(job)
		ran := 0
		for tasks := backend.Launched(); len(tasks) > ran; tasks = backend.Launched() {
			loop.TaskEnded(schedulertest.Success(tasks[ran], []int64{}))
			ran++
		}
		if ran != parents+1 || !loop.Idle() {
			t.Errorf("%d tasks ran, idle %t; want %d", ran, loop.Idle(), parents+1)
		}
		looks[parents] = final.times
	}
	if looks[500] > looks[5] {
		t.Errorf("the lineage was looked at %d times with 500 parents, %d times with 5", looks[500], looks[5])
	}
}

// TestParentLostWhileOthersRun loses what the first parents have written while others run: they run again at once, by their place in
// the order, and not only when the others are done.
func TestParentLostWhileOthersRun(t *testing.T) {
	for _, trimmed := range []bool{false, true} {
		t.Run(fmt.Sprintf("trimmed %t", trimmed), func(t *testing.T) {
			backend := new(schedulertest.Scripted)
			loop := scheduler.NewScriptLoop(backend, scheduler.Options{})
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Host: "a", Slots: 1})
			job, _ := collectMany(4)
			job.Trimmed = trimmed
			loop.Submit(job)
			end := func(i int) { loop.TaskEnded(schedulertest.Success(backend.Launched()[i], []int64{})) }
			end(0)
			end(1)
			loop.ExecutorLost("a", scheduler.Loss{Blameless: true})
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "b", Host: "b", Slots: 1})
			var order []string
			for i := 3; i < len(backend.Launched()); i++ {
				if task := backend.Launched()[i]; task.Shuffle != nil {
					order = append(order, task.Shuffle.Parent.Op())
				} else {
					order = append(order, "result")
				}
				end(i)
			}
			if got, want := fmt.Sprint(order), "[source2 source0 source1 source3 result]"; got != want || !loop.Idle() {
				t.Errorf("ran %s, idle %t; want %s", got, loop.Idle(), want)
			}
		})
	}
}
