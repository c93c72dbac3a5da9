package main

import (
	"errors"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// engine is executors in this process and what runs jobs on them.
type engine struct {
	cluster *local.Cluster
	sched   *scheduler.Scheduler
	rdds    *rdd.Context
	pass    lineage.Scope // of the last call of fresh
}

// newEngine returns an engine of one executor with a slot for each core. Its RDDs, where they name no
// number of partitions, have one for each core.
func newEngine(cores int) (*engine, error) {
	return newEngineOn(local.Options{Slots: cores}, scheduler.Options{}, rdd.Options{DefaultParallelism: cores, Cores: cores})
}

// newStreamEngine is newEngine with the options that a streaming context gives its engine: jobs are planned only as far up as what is
// persisted whole, and all that is marked is written to checkpoints.
func newStreamEngine(cores int, checkpoints string) (*engine, error) {
	return newEngineOn(local.Options{Slots: cores}, scheduler.Options{}, rdd.Options{
		DefaultParallelism: cores, Cores: cores, CheckpointDir: checkpoints, CheckpointAllMarked: true, TrimJobs: true,
	})
}

// newIsolated is newEngine where everything between tasks goes through its codec, as between processes.
func newIsolated(cores int) (*engine, error) {
	return newEngineOn(local.Options{Slots: cores, Isolate: true}, scheduler.Options{}, rdd.Options{
		DefaultParallelism: cores, Cores: cores,
	})
}

func newEngineOn(cluster local.Options, sched scheduler.Options, rdds rdd.Options) (e *engine, err error) {
	e = &engine{cluster: local.New(cluster), pass: lineage.Scope{Stream: 1}}
	e.sched = scheduler.New(e.cluster, sched)
	if e.rdds, err = rdd.NewContext(e.sched, rdds); err != nil {
		return nil, errors.Join(err, e.sched.Close())
	}
	return e, nil
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
