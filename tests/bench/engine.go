package main

import (
	"errors"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// engine is one executor in this process, with a slot for each core, and what runs jobs on it.
type engine struct {
	sched *scheduler.Scheduler
	rdds  *rdd.Context
	pass  lineage.Scope // of the last call of fresh
}

// newEngine returns an engine whose RDDs, where they name no number of partitions, have one for each
// core. checkpoints is where windows with inverse write theirs; empty where there are none.
func newEngine(cores int, checkpoints string) (*engine, error) {
	sched := scheduler.New(local.New(local.Options{Slots: cores}), scheduler.Options{})
	rdds, err := rdd.NewContext(sched, rdd.Options{
		DefaultParallelism: cores, Cores: cores, CheckpointDir: checkpoints, CheckpointAllMarked: checkpoints != "",
	})
	if err != nil {
		return nil, errors.Join(err, sched.Close())
	}
	return &engine{sched: sched, rdds: rdds, pass: lineage.Scope{Stream: 1}}, nil
}

// fresh returns where the RDDs of a pass are made, and drops what the pass before left behind. A
// graph that is run twice would find the outputs of its shuffles and not compute them again.
func (e *engine) fresh() *rdd.Context {
	if e.pass.Batch > 0 {
		e.rdds.Forget(e.pass)
	}
	e.pass.Batch++
	return e.rdds.In(e.pass, "bench", 0)
}

func (e *engine) close() error { return e.sched.Close() }
