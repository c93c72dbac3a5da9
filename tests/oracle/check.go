package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// limit is how long a plan may run before it counts as hanging.
const limit = 30 * time.Second

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
	running.Go(func() {
		defer close(done)
		work, failed = check(ctx, p, want, config)
	})
	hangs := time.NewTimer(limit)
	defer hangs.Stop()
	select {
	case <-done:
		running.Wait()
		return work, failed
	case <-hangs.C:
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

// check is Check on its own goroutine.
func check(ctx context.Context, p *Plan, want [][]Batch, config Config) (work Work, err error) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster := local.New(local.Options{Executors: config.Executors, Slots: config.Slots, Isolate: config.Isolate,
		ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}})
	f := &faults{cluster: cluster}
	if config.Kills > 0 {
		f.kills = config.schedule()
	}
	s := scheduler.New(cluster, scheduler.Options{MaxFailures: 8, MaxStageFailures: 100,
		Listeners: []scheduler.Listener{f.listener()}})
	defer func() {
		err = errors.Join(err, s.Close())
		work = Work{Calls: f.calls.Load(), Tasks: f.tasks.Load(), Lost: f.lost.Load()}
	}()
	opts := rdd.Options{DefaultParallelism: config.Parts, CheckpointDir: dir}
	// State below another checkpoint would never be written without it, and what a loss makes again
	// would go back to batches that have been forgotten.
	opts.CheckpointAllMarked = p.Stream
	if config.Unset {
		opts.DefaultParallelism, opts.Cores = 0, config.Parts
	}
	c, err := rdd.NewContext(s, opts)
	if err != nil {
		return work, err
	}
	b := &builder{ctx: ctx, plan: p, config: config, c: c, faults: f}
	if p.Stream {
		return work, b.checkStream(want)
	}
	return work, b.checkRDDs(want)
}

// Run checks a plan in all configs of its seed and returns the first failure.
func Run(ctx context.Context, p *Plan) error {
	want := Expect(p)
	var work Work
	for _, config := range Configs(p.Seed) {
		config.Work = work
		done, err := Check(ctx, p, want, config)
		if err != nil {
			return &Failure{Plan: p, Config: config, Err: err}
		}
		if config.Kills == 0 {
			work = done
		}
	}
	return nil
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
