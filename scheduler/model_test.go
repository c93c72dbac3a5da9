package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestAnyCourseOfEvents plays the executors with a whim: tasks succeed, fail, miss outputs, executors
// come and go, jobs are cancelled, reports come late and twice. Whatever happens, every attempt ends
// once, every position has one result, nobody reads an output that is not there without saying so,
// the slots add up, and when the whims end all jobs do.
func TestAnyCourseOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { newWorld(t).play(t) })
}

// A world is a scripted backend that remembers which executor holds which output.
type world struct {
	loop    *scheduler.ScriptLoop
	backend *schedulertest.Scripted
	starts  map[scheduler.TaskID]int
	ends    map[scheduler.TaskID]int
	open    []scheduler.TaskID // launched, not ended
	alive   []scheduler.ExecutorID
	held    map[scheduler.ExecutorID]map[string]bool
	added   int
	jobs    int
	ended   map[int]error
	reports []*scheduler.TaskEnd
	results []*schedulertest.Result
	cancels []func(error)
	nodes   []*schedulertest.Node
	err     string
}

func newWorld(t *rapid.T) *world {
	w := &world{backend: new(schedulertest.Scripted), starts: map[scheduler.TaskID]int{}, ends: map[scheduler.TaskID]int{},
		held: map[scheduler.ExecutorID]map[string]bool{}, ended: map[int]error{}}
	w.loop = scheduler.NewScriptLoop(w.backend, scheduler.Options{MaxFailures: 1000, MaxStageFailures: 1000,
		Listeners: []scheduler.Listener{{
			TaskStarted: func(e scheduler.TaskStarted) { w.starts[e.Task]++; w.open = append(w.open, e.Task) },
			TaskEnded: func(e scheduler.TaskEnded) {
				w.ends[e.Task]++
				for i, id := range w.open {
					if id == e.Task {
						w.open = append(w.open[:i:i], w.open[i+1:]...)
						return
					}
				}
				w.err = fmt.Sprintf("task %d ended twice or before it began", e.Task)
			},
			JobEnded: func(e scheduler.JobEnded) {
				if _, twice := w.ended[e.Job]; twice {
					w.err = fmt.Sprintf("job %d ended twice", e.Job)
				}
				w.ended[e.Job] = e.Err
			},
		}}})
	g := new(schedulertest.Graph)
	src := g.Source("source", rapid.IntRange(1, 4).Draw(t, "maps"), nil)
	a := g.Shuffle("a", src, rapid.IntRange(1, 3).Draw(t, "reducers"))
	kept := g.Map("kept", a, nil).Persist()
	b := g.Shuffle("b", g.Union("u", kept, src), 2)
	c := g.Shuffle("c", kept, 3)
	w.nodes = []*schedulertest.Node{src, a, kept, b, c, g.Union("bc", b, c)}
	return w
}

func output(id lineage.ShuffleID, part int) string { return fmt.Sprintf("%s/%d", id, part) }

func (w *world) play(t *rapid.T) {
	w.add()
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 11).Draw(t, "whim") {
		case 0, 1:
			w.submit(t)
		case 2:
			if len(w.alive) < 4 {
				w.add()
			}
		case 3:
			if len(w.alive) > 1 {
				w.lose(rapid.IntRange(0, len(w.alive)-1).Draw(t, "lost"))
			}
		case 4:
			if len(w.cancels) > 0 {
				w.cancels[rapid.IntRange(0, len(w.cancels)-1).Draw(t, "canceled")](context.Canceled)
			}
		case 5:
			w.loop.Fire()
		case 6:
			if len(w.reports) > 0 {
				w.loop.TaskEnded(w.reports[rapid.IntRange(0, len(w.reports)-1).Draw(t, "late")])
			}
		case 7:
			if len(w.open) > 0 {
				w.end(w.pick(t), errors.New("whim"))
			}
		case 8:
			// An executor that lives loses what it holds.
			if len(w.alive) > 0 {
				clear(w.held[w.alive[rapid.IntRange(0, len(w.alive)-1).Draw(t, "emptied")]])
			}
		default:
			if len(w.open) > 0 {
				w.end(w.pick(t), nil)
			}
		}
		w.check(t)
	}
	if len(w.alive) == 0 {
		w.add()
	}
	for step := 0; len(w.ended) < w.jobs || len(w.open) > 0; step++ {
		if step > 5000 {
			t.Fatalf("%d of %d jobs do not end", w.jobs-len(w.ended), w.jobs)
		}
		if len(w.open) > 0 {
			w.end(w.open[0], nil)
		} else {
			w.loop.Fire()
		}
		w.check(t)
	}
	w.loop.Fire()
	if !w.loop.Idle() {
		t.Error("the loop still holds something")
	}
	for job, err := range w.ended {
		times := w.results[job].Times()
		for i, n := range times {
			if n > 1 || err == nil && n != 1 {
				t.Errorf("job %d (%v) had %d results for position %d", job, err, n, i)
			}
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("job %d: %v", job, err)
		}
	}
}

func (w *world) check(t *rapid.T) {
	if w.err != "" {
		t.Fatal(w.err)
	}
	if total, sum := w.loop.Slots(); total != sum || sum < 0 {
		t.Fatalf("the loop counts %d free slots, its executors have %d", total, sum)
	}
}

func (w *world) submit(t *rapid.T) {
	n := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")]
	job, result := schedulertest.Collect(n)
	w.jobs++
	w.results = append(w.results, result)
	w.cancels = append(w.cancels, w.loop.Submit(job))
}

func (w *world) add() {
	id := scheduler.ExecutorID(fmt.Sprintf("e%d", w.added))
	w.added++
	w.alive = append(w.alive, id)
	w.held[id] = map[string]bool{}
	w.loop.ExecutorAdded(scheduler.ExecutorInfo{ID: id, Slots: 2})
}

func (w *world) lose(i int) {
	id := w.alive[i]
	w.alive = append(w.alive[:i:i], w.alive[i+1:]...)
	delete(w.held, id)
	w.loop.ExecutorLost(id, scheduler.Loss{Blameless: true})
}

func (w *world) pick(t *rapid.T) scheduler.TaskID {
	return w.open[rapid.IntRange(0, len(w.open)-1).Draw(t, "task")]
}

// end lets a task end with err or, if it is nil, as the outputs at hand have it.
func (w *world) end(id scheduler.TaskID, err error) {
	task := w.backend.Launched()[id-1]
	report := &scheduler.TaskEnd{Task: id, Err: err}
	if err == nil {
		report = schedulertest.Success(task, []int64{})
		if fe := w.missing(task); fe != nil {
			report = &scheduler.TaskEnd{Task: id, Err: fe}
		} else if task.Shuffle != nil {
			w.held[task.Executor][output(task.Shuffle.ID, task.Attempt.Partition)] = true
		} else if task.Job.Final == lineage.Node(w.nodes[2]) {
			id := scheduler.BlockID{Node: w.nodes[2].ID(), Part: task.Attempt.Partition}
			report.Cached = []scheduler.CachedBlock{{BlockID: id, Executors: []scheduler.ExecutorID{task.Executor}}}
			w.held[task.Executor][id.Node.String()+"."+fmt.Sprint(id.Part)] = true
		}
	}
	w.reports = append(w.reports, report)
	w.loop.TaskEnded(report)
}

// missing returns the first thing the task cannot read, if any. It walks as the task would.
func (w *world) missing(task *scheduler.Task) error {
	final := lineage.Node(nil)
	if task.Job != nil {
		final = task.Job.Final
	} else {
		final = task.Shuffle.Parent
	}
	type place struct {
		node lineage.Node
		part int
	}
	stack := []place{{final, task.Attempt.Partition}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.readsCached(task, scheduler.BlockID{Node: p.node.ID(), Part: p.part}) {
			continue
		}
		for _, d := range p.node.Deps() {
			if d.Shuffle == nil {
				for _, parent := range d.Narrow(p.part) {
					stack = append(stack, place{d.Parent, parent})
				}
			} else if fe := w.fetch(task, d.Shuffle); fe != nil {
				return fe
			}
		}
	}
	return nil
}

// readsCached reports whether an executor the task was told of still has a persisted partition.
func (w *world) readsCached(task *scheduler.Task, id scheduler.BlockID) bool {
	for _, c := range task.Cached {
		for _, ex := range c.Executors {
			if c.BlockID == id && w.held[ex][id.Node.String()+"."+fmt.Sprint(id.Part)] {
				return true
			}
		}
	}
	return false
}

func (w *world) fetch(task *scheduler.Task, sh *lineage.Shuffle) error {
	for _, in := range task.Inputs {
		if in.Shuffle != sh.ID {
			continue
		}
		for m, out := range in.Maps {
			if out.Executor == "" || !w.held[out.Executor][output(sh.ID, m)] {
				return &scheduler.FetchError{Shuffle: sh.ID, Map: m, Executor: out.Executor}
			}
		}
		return nil
	}
	return &scheduler.FetchError{Shuffle: sh.ID, Map: -1}
}
