package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestAnyCourseOfEvents plays the executors with a whim: tasks succeed, fail, miss outputs, ask whether they may
// commit and are denied it, executors come and go and lose what they hold, jobs are cancelled by context, group,
// tag, stage or number, reports come late and twice, with pools or without, over nodes whose rows are the same
// every time or not. Whatever happens, every attempt ends once, every position has one result, all results of a
// job are made of the same rows, one attempt of a partition commits at most, nobody reads an output that is not
// there without saying so, the slots add up, and when the whims end all jobs do.
func TestAnyCourseOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { newWorld(t).play(t) })
}

// A world is a scripted backend that remembers which executor holds which output.
type world struct {
	loop             *scheduler.ScriptLoop
	backend          *schedulertest.Scripted
	starts           map[scheduler.TaskID]int
	ends             map[scheduler.TaskID]int
	open             []scheduler.TaskID // launched, not ended
	alive            []scheduler.ExecutorID
	held             map[scheduler.ExecutorID]map[string]holding // by output or persisted partition
	dropped          int                                         // of what the backend was told to drop
	added            int
	ended            map[int]error
	reports          []*scheduler.TaskEnd
	jobs             []*modelJob
	nodes            []*schedulertest.Node
	random           bool // whether some nodes are indeterminate
	copies, excludes bool // whether slow tasks are copied, and executors that fail excluded
	reading          rows // of the result task whose end is being reported
	may              map[scheduler.TaskID]bool
	commits          map[string]int // by stage and partition
	err              string
}

// A modelJob is a job and what it has been given.
type modelJob struct {
	cancel  func(error)
	results *schedulertest.Result // nil for one that only writes a shuffle
	sizes   int                   // how often it was told sizes
	made    rows                  // what its results are made of
}

// A holding is what an executor holds of a task: what it is made of.
type holding struct {
	by   scheduler.TaskID
	made rows
}

// Rows says which attempts wrote the map outputs of indeterminate stages that something is made of, by output.
type rows map[string]scheduler.TaskID

// add adds what other is made of, and reports the first output of which both have different rows.
func (r rows) add(other rows) (clash string) {
	for output, by := range other {
		if known, ok := r[output]; ok && known != by {
			clash = output
		}
		r[output] = by
	}
	return clash
}

func newWorld(t *rapid.T) *world {
	w := &world{backend: new(schedulertest.Scripted), starts: map[scheduler.TaskID]int{}, ends: map[scheduler.TaskID]int{},
		held: map[scheduler.ExecutorID]map[string]holding{}, ended: map[int]error{},
		may: map[scheduler.TaskID]bool{}, commits: map[string]int{}}
	opts := scheduler.Options{MaxFailures: 1000, MaxStageFailures: 1000,
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
		}}}
	if rapid.Bool().Draw(t, "fair") {
		opts.Mode = scheduler.FAIR
		opts.Pools = []scheduler.Pool{{Name: "p", Weight: 2}, {Name: "q", Parent: "p", Mode: scheduler.FAIR, MinShare: 1}}
	}
	if rapid.Bool().Draw(t, "waits") {
		opts.LocalityWait = time.Second
	}
	if w.copies = rapid.Bool().Draw(t, "speculates"); w.copies {
		opts.Speculation = scheduler.Speculation{Enabled: true, AnyRate: true, Quantile: 0.3, Multiplier: 1}
	}
	if w.excludes = rapid.IntRange(0, 3).Draw(t, "excludes") == 0; w.excludes {
		opts.Exclusion = scheduler.Exclusion{Enabled: true}
	}
	w.loop = scheduler.NewScriptLoop(w.backend, opts)
	g := new(schedulertest.Graph)
	src := g.Source("source", rapid.IntRange(1, 4).Draw(t, "maps"), nil)
	if w.random = rapid.Bool().Draw(t, "random"); w.random {
		src.Class = lineage.Indeterminate
	}
	a := g.Shuffle("a", src, rapid.IntRange(1, 3).Draw(t, "reducers"))
	kept := g.Map("kept", a, nil).Persist()
	b := g.Shuffle("b", g.Union("u", kept, src), 2)
	c := g.Shuffle("c", kept, 3)
	w.nodes = []*schedulertest.Node{src, a, kept, b, c, g.Union("bc", b, c)}
	return w
}

func output(id lineage.ShuffleID, part int) string { return fmt.Sprintf("%s/%d", id, part) }

func persisted(id scheduler.BlockID) string { return fmt.Sprintf("%s.%d", id.Node, id.Part) }

func (w *world) play(t *rapid.T) {
	w.add()
	draw := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	for range rapid.IntRange(5, 100).Draw(t, "steps") {
		switch rapid.IntRange(0, 17).Draw(t, "whim") {
		case 0, 1:
			w.submit(t)
		case 2:
			if len(w.alive) < 4 {
				w.add()
			}
		case 3:
			if len(w.alive) > 1 {
				w.lose(draw("lost", len(w.alive)))
			}
		case 4:
			w.cancel(t)
		case 5:
			w.loop.Fire()
		case 6:
			if len(w.reports) > 0 {
				w.loop.TaskEnded(w.reports[draw("late", len(w.reports))])
			}
		case 7:
			if len(w.open) > 0 {
				w.end(w.pick(t), errors.New("whim"))
			}
		case 8:
			// An executor that lives loses what it holds, and may say so of persisted partitions.
			if len(w.alive) > 0 {
				id := w.alive[draw("emptied", len(w.alive))]
				clear(w.held[id])
				if draw("says_so", 2) == 1 {
					w.loop.BlocksLost(id, []scheduler.BlockID{{Node: w.nodes[2].ID()}, {Node: w.nodes[2].ID(), Part: 1}})
				}
			}
		case 9, 11:
			if len(w.open) > 0 {
				w.ask(w.pick(t))
			}
		case 10:
			w.loop.Advance(time.Duration(draw("milliseconds", 3000)) * time.Millisecond)
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
	for step := 0; len(w.ended) < len(w.jobs) || len(w.open) > 0; step++ {
		if step > 5000 {
			t.Fatalf("%d of %d jobs do not end", len(w.jobs)-len(w.ended), len(w.jobs))
		}
		if len(w.open) > 0 {
			w.end(w.open[0], nil)
		} else {
			w.loop.Advance(2 * time.Second)
		}
		w.check(t)
	}
	w.loop.Advance(time.Second)
	w.checkEnd(t)
}

// checkEnd checks what must hold when all is over.
func (w *world) checkEnd(t *rapid.T) {
	if !w.loop.Idle() {
		t.Error("the loop still holds something")
	}
	for id, n := range w.starts {
		if n != 1 || w.ends[id] != 1 {
			t.Errorf("task %d began %d times and ended %d times", id, n, w.ends[id])
		}
	}
	for i, j := range w.jobs {
		err := w.ended[i]
		switch {
		case j.results == nil:
			if j.sizes > 1 || err == nil && j.sizes != 1 {
				t.Errorf("job %d (%v) was told sizes %d times", i, err, j.sizes)
			}
		default:
			for p, n := range j.results.Times() {
				if n > 1 || err == nil && n != 1 {
					t.Errorf("job %d (%v) had %d results for position %d", i, err, n, p)
				}
			}
		}
		var excluded *scheduler.ExcludedError
		if err != nil && !errors.Is(err, scheduler.ErrCanceled) && !(w.random && errors.Is(err, scheduler.ErrCannotRollBack)) &&
			!(w.excludes && errors.As(err, &excluded)) {
			t.Errorf("job %d: %v", i, err)
		}
	}
}

// check checks what must hold at any time, and carries out what the backend was told to drop.
func (w *world) check(t *rapid.T) {
	if w.err != "" {
		t.Fatal(w.err)
	}
	if total, sum := w.loop.Slots(); total != sum || sum < 0 {
		t.Fatalf("the loop counts %d free slots, its executors have %d", total, sum)
	}
	drops := w.backend.Dropped()
	for _, d := range drops[w.dropped:] {
		for _, n := range d.Nodes {
			for _, held := range w.held {
				for name := range held {
					if strings.HasPrefix(name, n.String()+".") {
						delete(held, name)
					}
				}
			}
		}
	}
	w.dropped = len(drops)
}

func (w *world) submit(t *rapid.T) {
	n := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")]
	j := &modelJob{made: rows{}}
	var job lineage.Job
	if sh := n.ShuffleOf(); sh != nil && rapid.IntRange(0, 3).Draw(t, "map_only") == 0 {
		job = lineage.Job{Name: "map", Map: sh, Sizes: func(sizes [][]int64) {
			j.sizes++
			if parts, _ := sh.Parent.NumPartitions(); len(sizes) != parts {
				w.err = fmt.Sprintf("%d rows of sizes, want %d", len(sizes), parts)
			}
		}}
	} else {
		job, j.results = schedulertest.Collect(n)
		done := job.Done
		job.Done = func(i int, b lineage.Block) error {
			if clash := j.made.add(w.reading); clash != "" {
				w.err = fmt.Sprintf("results are made of different rows of output %s", clash)
			}
			return done(i, b)
		}
	}
	job.Properties = lineage.Properties{
		Pool:  rapid.SampledFrom([]string{"", "p", "q", "new"}).Draw(t, "pool"),
		Group: rapid.SampledFrom([]string{"", "g", "h"}).Draw(t, "group"),
		Tags:  []string{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tag")},
	}
	w.jobs = append(w.jobs, j)
	j.cancel = w.loop.Submit(job)
}

func (w *world) cancel(t *rapid.T) {
	if len(w.jobs) == 0 {
		return
	}
	job := rapid.IntRange(0, len(w.jobs)-1).Draw(t, "canceled")
	switch rapid.IntRange(0, 9).Draw(t, "how") {
	case 0:
		w.loop.CancelGroup("g", false)
	case 1:
		w.loop.CancelGroup("h", true)
	case 2:
		w.loop.CancelTag("x")
	case 3:
		w.loop.CancelStage(job)
	case 4:
		w.loop.CancelAll()
	case 5, 6:
		w.loop.CancelJob(job)
	default:
		w.jobs[job].cancel(context.Canceled)
	}
}

func (w *world) add() {
	id := scheduler.ExecutorID(fmt.Sprintf("e%d", w.added))
	w.added++
	w.alive = append(w.alive, id)
	w.held[id] = map[string]holding{}
	w.loop.ExecutorAdded(scheduler.ExecutorInfo{ID: id, Host: fmt.Sprintf("h%d", w.added%2), Slots: 2})
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

// ask lets a task ask whether it may commit. One that may not ends.
func (w *world) ask(id scheduler.TaskID) {
	if w.loop.MayCommit(id) {
		w.may[id] = true
		return
	}
	if w.may[id] {
		return // its stage is over
	}
	at := w.backend.Launched()[id-1].Attempt
	w.end(id, &scheduler.CommitDeniedError{Stage: at.Stage, Partition: at.Partition, Attempt: at.Number})
}

// end lets a task end with err or, if it is nil, as the outputs at hand have it.
func (w *world) end(id scheduler.TaskID, err error) {
	task := w.backend.Launched()[id-1]
	report := &scheduler.TaskEnd{Task: id, Err: err}
	w.reading = rows{}
	if err == nil {
		report = schedulertest.Success(task, []int64{})
		if fe := w.read(task); fe != nil {
			report = &scheduler.TaskEnd{Task: id, Err: fe}
		} else {
			w.write(task, report)
		}
	}
	w.reports = append(w.reports, report)
	w.loop.TaskEnded(report)
}

// write keeps what a task that comes through leaves on its executor. Of two attempts the newer one wins.
func (w *world) write(task *scheduler.Task, report *scheduler.TaskEnd) {
	put := func(name string) {
		if held := w.held[task.Executor]; held[name].by < task.ID {
			held[name] = holding{task.ID, w.reading}
		}
	}
	if task.Shuffle != nil {
		name := output(task.Shuffle.ID, task.Attempt.Partition)
		if task.Shuffle.Parent.(lineage.Classed).Determinism() == lineage.Indeterminate {
			w.reading[name] = task.ID
		}
		put(name)
		return
	}
	if w.may[task.ID] {
		name := fmt.Sprintf("%d/%d", task.Attempt.Stage, task.Attempt.Partition)
		if w.commits[name]++; w.commits[name] > 1 {
			w.err = fmt.Sprintf("a second attempt of %s has committed", name)
		}
	}
	if task.Job.Final == lineage.Node(w.nodes[2]) {
		id := scheduler.BlockID{Node: w.nodes[2].ID(), Part: task.Attempt.Partition}
		report.Cached = []scheduler.CachedBlock{{BlockID: id, Executors: []scheduler.ExecutorID{task.Executor}}}
		put(persisted(id))
	}
}

// read reads what the task reads, as the task would, and returns the first thing it cannot.
func (w *world) read(task *scheduler.Task) error {
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
			if held, ok := w.held[ex][persisted(id)]; c.BlockID == id && ok {
				w.reading.add(held.made)
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
			held, ok := w.held[out.Executor][output(sh.ID, m)]
			if !ok {
				return &scheduler.FetchError{Shuffle: sh.ID, Map: m, Executor: out.Executor}
			}
			w.reading.add(held.made)
		}
		return nil
	}
	return &scheduler.FetchError{Shuffle: sh.ID, Map: -1}
}
