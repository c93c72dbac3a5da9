package oracle

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A Harm is a kind of fault.
type Harm uint8

const (
	// Lose loses an executor, and brings a new one.
	Lose Harm = iota
	// Spoil damages a block or a file that an executor holds. Where none holds anything it waits for the
	// next task.
	Spoil
	// Stall has a function of the pipeline wait until a copy of some task has come through, or for a while.
	Stall
	// Hang never runs an attempt: it ends when it is cancelled.
	Hang
	// Meddle fails an attempt, loses its executor before it or after it, or brings its report twice.
	Meddle
)

// String returns the harm in lower case.
func (h Harm) String() string { return [...]string{"lose", "spoil", "stall", "hang", "meddle"}[h] }

// stalls is how long a function waits at most. It is several times what speculation lets a task take.
const stalls = 30 * time.Millisecond

// A Fault does harm at one moment of a run.
type Fault struct {
	Harm Harm
	// At counts calls of the pipeline's functions, or with Tasks the tasks that started.
	At    int64
	Tasks bool
	// Which chooses among what there is to harm. First brings the new executor before the loss.
	Which int
	First bool
}

// faults counts what happens and does harm when it is time.
type faults struct {
	calls, tasks, lost, spoiled, stalled atomic.Int64
	copies, spills, evictions, meddled   atomic.Int64

	schedule []Fault // those that calls and started tasks meet
	cluster  *local.Cluster

	mu   sync.Mutex // held while executors change, so that one is always left; guards what follows
	rng  *rand.Rand
	owed int // spoils that found nothing to spoil

	attempts  []Fault // those that attempts meet; the scheduler's loop has them to itself
	launched  int64
	hanging   map[[2]int]bool // attempts of stages with a task that hangs
	copyCame  chan struct{}   // holds a token once a copy has come through
	isStalled sync.Mutex      // held by the function that waits: one at a time
}

// steps grows as long as the run goes on: with each task that starts and each call of a function of the pipeline.
func (f *faults) steps() int64 { return f.calls.Load() + f.tasks.Load() }

// newFaults returns what does the harm of a config to a cluster.
func newFaults(cluster *local.Cluster, config Config) *faults {
	f := &faults{cluster: cluster, rng: rand.New(rand.NewPCG(config.When, 0xbad)), hanging: map[[2]int]bool{},
		copyCame: make(chan struct{}, 1)}
	for _, x := range config.schedule() {
		if x.Harm == Hang || x.Harm == Meddle {
			f.attempts = append(f.attempts, x)
		} else {
			f.schedule = append(f.schedule, x)
		}
	}
	return f
}

func (f *faults) called() { f.strike(f.calls.Add(1), false) }

// listener counts tasks and what they report.
func (f *faults) listener() scheduler.Listener {
	return scheduler.Listener{
		TaskStarted: func(scheduler.TaskStarted) {
			f.strike(f.tasks.Add(1), true)
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.owed > 0 && f.cluster.Damage(f.rng) {
				f.owed--
				f.spoiled.Add(1)
			}
		},
		TaskEnded: func(e scheduler.TaskEnded) {
			if e.Metrics.SpilledRows > 0 {
				f.spills.Add(1)
			}
			f.evictions.Add(e.Metrics.EvictedBlocks)
			if !e.Speculative {
				return
			}
			if e.Err != nil && !e.Killed {
				f.cluster.Add() // no copy runs on a host that had an attempt of its partition: there may be none left
			}
			if e.Err != nil {
				return
			}
			f.copies.Add(1)
			select {
			case f.copyCame <- struct{}{}:
			default:
			}
		},
	}
}

func (f *faults) strike(now int64, tasks bool) {
	for _, x := range f.schedule {
		if x.At != now || x.Tasks != tasks {
			continue
		}
		switch x.Harm {
		case Lose:
			f.lose(x)
		case Spoil:
			f.spoil()
		case Stall:
			f.stall()
		}
	}
}

func (f *faults) lose(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := f.cluster.Executors()
	if len(there) == 0 {
		return
	}
	if x.First {
		f.cluster.Add()
	}
	if f.cluster.Kill(there[x.Which%len(there)]) {
		f.lost.Add(1)
	}
	if !x.First {
		f.cluster.Add()
	}
}

func (f *faults) spoil() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cluster.Damage(f.rng) {
		f.spoiled.Add(1)
	} else {
		f.owed++
	}
}

func (f *faults) stall() {
	f.isStalled.Lock()
	defer f.isStalled.Unlock()
	f.stalled.Add(1)
	select {
	case <-f.copyCame: // of an earlier task
	default:
	}
	timer := time.NewTimer(stalls)
	defer timer.Stop()
	select {
	case <-f.copyCame:
	case <-timer.C:
	}
}

// decide is the fate of an attempt. A stage has one task that hangs at a time, so that the others can show how
// long a task takes and a copy is made; copies run.
func (f *faults) decide(task *scheduler.Task) schedulertest.Fate {
	f.launched++
	a := task.Attempt
	stage := [2]int{a.Stage, a.StageAttempt}
	for i, x := range f.attempts {
		if x.At > f.launched || x.Harm == Hang && (a.Number > 0 || f.hanging[stage]) {
			continue
		}
		f.attempts = append(f.attempts[:i:i], f.attempts[i+1:]...)
		if x.Harm == Hang {
			f.hanging[stage] = true
			return schedulertest.Hang
		}
		f.meddled.Add(1)
		return [...]schedulertest.Fate{schedulertest.Fail, schedulertest.Kill, schedulertest.KillAfter, schedulertest.Twice}[x.Which%4]
	}
	return schedulertest.Run
}
