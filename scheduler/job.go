package scheduler

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A job is one call of Run.
type job struct {
	id        int
	spec      lineage.Job
	plan      []planned // its stages as the graph has them, parents first, the result stage last
	planErr   error
	result    *stage   // the last one, also that of a job that only writes a shuffle
	stages    []*stage // all of them, as in plan
	finished  []bool   // by position of spec.Parts
	remaining int
	ended     bool
	since     int        // the last beginning or end of a stage's attempt before it began
	done      chan error // holds the outcome; never blocks the loop
}

// A planned is a stage as read off the graph, before it is known which other jobs share it.
type planned struct {
	shuffle *lineage.Shuffle // nil for the result stage
	final   lineage.Node
	parts   int
	reads   []*lineage.Shuffle
}

// newJob reads the job's graph; a trimmed job's not above what kept says executors hold whole. What
// goes wrong is kept for the loop, which numbers jobs.
func newJob(spec lineage.Job, kept func(lineage.Node) bool) *job {
	j := &job{spec: spec, id: -1, done: make(chan error, 1)}
	if !spec.Trimmed {
		kept = nil
	}
	j.spec.Properties.Tags = slices.Clone(spec.Properties.Tags) // the loop reads them for as long as the job runs
	if spec.Map != nil {
		j.spec.Final, j.spec.Parts = spec.Map.Parent, nil
	}
	j.planErr = guard(func() (err error) {
		j.plan, err = plan(j.spec.Final, kept)
		return err
	})
	if j.planErr != nil {
		return j
	}
	if spec.Map != nil {
		j.plan[len(j.plan)-1].shuffle = spec.Map
		return j
	}
	n := j.plan[len(j.plan)-1].parts
	for _, p := range spec.Parts {
		if p < 0 || p >= n {
			j.planErr = fmt.Errorf("partition %d of %s[%s], which has %d", p, spec.Final.Op(), spec.Final.ID(), n)
			return j
		}
	}
	j.finished = make([]bool, len(spec.Parts))
	j.remaining = len(spec.Parts)
	return j
}

// plan returns the stages of a job on final in post-order: every shuffle that final descends from
// once, parents before children; with kept, only as far up as nodes for which it is false.
func plan(final lineage.Node, kept func(lineage.Node) bool) ([]planned, error) {
	type frame struct {
		stage   planned
		pending []*lineage.Shuffle
	}
	open := func(sh *lineage.Shuffle, node lineage.Node) (frame, error) {
		n, err := node.NumPartitions()
		if err != nil {
			return frame{}, fmt.Errorf("partitions of %s[%s]: %w", node.Op(), node.ID(), err)
		}
		p := planned{shuffle: sh, final: node, parts: n}
		if len(node.Deps()) > 0 {
			p.reads = lineage.ShuffleParents(node, kept)
		}
		return frame{stage: p, pending: p.reads}, nil
	}
	first, err := open(nil, final)
	if err != nil {
		return nil, err
	}
	if len(first.pending) == 0 {
		return []planned{first.stage}, nil
	}
	var order []planned
	seen := map[lineage.ShuffleID]bool{}
	stack := []frame{first}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.pending) == 0 {
			order = append(order, top.stage)
			stack = stack[:len(stack)-1]
			continue
		}
		sh := top.pending[0]
		top.pending = top.pending[1:]
		if seen[sh.ID] {
			continue
		}
		seen[sh.ID] = true
		f, err := open(sh, sh.Parent)
		if err != nil {
			return nil, err
		}
		stack = append(stack, f)
	}
	return order, nil
}

func (j *job) fail(err error) error {
	return &JobError{Job: j.id, Name: j.spec.Name, Site: j.spec.Site, Err: err}
}

// guard calls user code that runs outside of tasks and turns its panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	return f()
}

// apart is guard for functions of the program that the loop calls: they have a goroutine of their own, so that one
// which ends its goroutine, as a failing test assertion does, does not end the loop.
func apart(f func() error) error {
	err := errGoexit
	var wg sync.WaitGroup
	wg.Go(func() { err = guard(f) })
	wg.Wait()
	return err
}

var errGoexit = errors.New("the function ended its goroutine")
