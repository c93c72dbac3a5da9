package local

import (
	"fmt"
	"sync"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// A work is where isolated executors find the work of the tasks they are sent: the jobs and shuffles
// of this process by address, for as long as attempts of them are under way. mu guards table.
type work struct {
	mu    sync.Mutex
	table map[scheduler.Address]*workEntry
}

type workEntry struct {
	work  executor.Work
	users int
}

func newWork() *work { return &work{table: map[scheduler.Address]*workEntry{}} }

func (w *work) add(task *scheduler.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.table[task.Address]
	if e == nil {
		e = &workEntry{work: executor.Work{Job: task.Job, Shuffle: task.Shuffle}}
		w.table[task.Address] = e
	}
	e.users++
}

func (w *work) remove(task *scheduler.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.table[task.Address]; e != nil {
		if e.users--; e.users == 0 {
			delete(w.table, task.Address)
		}
	}
}

// Resolve returns the work at an address.
func (w *work) Resolve(address scheduler.Address) (executor.Work, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.table[address]
	if e == nil {
		return executor.Work{}, fmt.Errorf("no work at job %d stage %d %s", address.Job, address.Stage, address.Name)
	}
	return e.work, nil
}
