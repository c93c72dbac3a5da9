package oracle

import (
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// A Kill loses one executor, and brings a new one.
type Kill struct {
	// At counts calls of the pipeline's functions, or with Tasks the tasks that started.
	At    int64
	Tasks bool
	// Which chooses among the executors there are. First brings the new one before the loss.
	Which int
	First bool
}

// faults counts what happens and loses executors when it is time.
type faults struct {
	calls, tasks atomic.Int64
	lost         atomic.Int64
	kills        []Kill
	cluster      *local.Cluster
	mu           sync.Mutex // held while executors change, so that one is always left
}

func (f *faults) called() { f.strike(f.calls.Add(1), false) }

// listener counts tasks.
func (f *faults) listener() scheduler.Listener {
	return scheduler.Listener{TaskStarted: func(scheduler.TaskStarted) { f.strike(f.tasks.Add(1), true) }}
}

func (f *faults) strike(now int64, tasks bool) {
	for _, k := range f.kills {
		if k.At == now && k.Tasks == tasks {
			f.kill(k)
		}
	}
}

func (f *faults) kill(k Kill) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := f.cluster.Executors()
	if len(there) == 0 {
		return
	}
	if k.First {
		f.cluster.Add()
	}
	if f.cluster.Kill(there[k.Which%len(there)]) {
		f.lost.Add(1)
	}
	if !k.First {
		f.cluster.Add()
	}
}
