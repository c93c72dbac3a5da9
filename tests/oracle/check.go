package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// limit is how long a plan may start no task and call no function of its own before it counts as hanging, and limits how many times that may be
// with either: some plans have tens of thousands of tasks, or a task with a million rows, and a machine may have other work.
const (
	limit  = 30 * time.Second
	limits = 10
)

// A HangError says that a plan did not end; Dump shows where its goroutines were.
type HangError struct {
	Err  error // what the run returned once it was cancelled, nil if it went on all the same
	Dump string
}

// Error returns the dump as well.
func (e *HangError) Error() string {
	return fmt.Sprintf("did not end within %v (after cancellation: %v)\n%s", limit, e.Err, e.Dump)
}

// Unwrap returns what the cancelled run returned.
func (e *HangError) Unwrap() error { return e.Err }

// Check runs a plan in one config and returns how its outputs differ from want, which Expect made, and
// how much there was to do.
//
// Errors: a *HangError if the plan does not end.
func Check(ctx context.Context, p *Plan, want [][]Batch, config Config) (Work, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work Work
	var failed error
	done := make(chan struct{})
	var running sync.WaitGroup
	var under atomic.Pointer[faults]
	running.Go(func() {
		defer close(done)
		work, failed = check(ctx, p, want, config, &under)
	})
	hangs := time.NewTimer(limit)
	defer hangs.Stop()
	seen := int64(0)
	for waited := 1; ; waited++ {
		select {
		case <-done:
			running.Wait()
			return work, failed
		case <-hangs.C:
		}
		f := under.Load()
		if f == nil || f.steps() == seen || waited == limits {
			break
		}
		seen = f.steps()
		hangs.Reset(limit)
	}
	dump := make([]byte, 1<<20)
	dump = dump[:runtime.Stack(dump, true)]
	cancel()
	hangs.Reset(limit / 3)
	select {
	case <-done:
		return work, &HangError{Err: failed, Dump: string(dump)}
	case <-hangs.C:
		return Work{}, &HangError{Dump: string(dump)} // it is lost, and its goroutines with it
	}
}

// check is Check on its own goroutine. It shows what counts the steps of the run.
func check(ctx context.Context, p *Plan, want [][]Batch, config Config, under *atomic.Pointer[faults]) (work Work, err error) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	own := filepath.Join(dir, "cluster")
	if err := os.Mkdir(own, 0o700); err != nil {
		return work, err
	}
	cluster := local.New(local.Options{Executors: config.Executors, Slots: config.Slots, Isolate: config.Isolate, Memory: config.Memory,
		Dir: own, ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}})
	f := newFaults(cluster, config)
	under.Store(f)
	backend := &schedulertest.KillSwitch{Backend: cluster, Decide: f.decide}
	s := scheduler.New(backend, config.scheduler(f.listener()))
	defer func() {
		err = errors.Join(err, s.Close())
		work = Work{Calls: f.calls.Load(), Tasks: f.tasks.Load(), Lost: f.lost.Load(), Spoiled: f.spoiled.Load(),
			Stalled: f.stalled.Load(), Hung: int64(backend.Seen(schedulertest.Hang)), Meddled: f.meddled.Load(),
			Copies: f.copies.Load(), Spills: f.spills.Load(), Evictions: f.evictions.Load()}
		if err == nil {
			err = closed(cluster, own)
		}
	}()
	c, err := rdd.NewContext(s, config.options(p, filepath.Join(dir, "checkpoints")))
	if err != nil {
		return work, err
	}
	b := &builder{ctx: ctx, plan: p, config: config, c: c, faults: f, dir: dir, folders: new(atomic.Int64)}
	if p.Stream {
		return work, b.checkStream(want)
	}
	return work, b.checkRDDs(want)
}

// closed reports what a cluster has left behind: memory that tasks reserved, files.
func closed(cluster *local.Cluster, dir string) error {
	if reserved, _ := cluster.Memory(); reserved != 0 {
		return fmt.Errorf("tasks have %d bytes reserved after the end", reserved)
	}
	if files := cluster.Files(); len(files) > 0 {
		return fmt.Errorf("files are left: %v", files)
	}
	left, err := os.ReadDir(dir)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("folders are left: %v", left)
	}
	return err
}

// Run checks a plan in all configs of its seed and returns how much that was, and the first failure. A big plan
// is run in two of them.
func Run(ctx context.Context, p *Plan) (Work, error) {
	want := Expect(p)
	configs := Configs(p.Seed)
	if p.Big {
		at := p.Seed / 2 % 3 * 2
		configs = configs[at : at+2]
	}
	var all, calm Work
	for _, config := range configs {
		config.Work = calm
		done, err := Check(ctx, p, want, config)
		if err != nil {
			return all, &Failure{Plan: p, Config: config, Err: err}
		}
		all = all.add(done)
		if !config.harms() {
			calm = done
		}
	}
	return all, nil
}

// A Failure is a plan whose run in a config differs from what the plain evaluator says.
type Failure struct {
	Plan   *Plan
	Config Config
	Err    error
}

// Error returns the plan as well.
func (f *Failure) Error() string {
	return fmt.Sprintf("%v\nconfig %v\n%v", f.Err, f.Config, f.Plan)
}

// Unwrap returns how the run failed.
func (f *Failure) Unwrap() error { return f.Err }
