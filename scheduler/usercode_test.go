package scheduler_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestFunctionsOfTheProgramOnTheLoop has those that the loop calls panic and end their goroutine: the loop goes on.
func TestFunctionsOfTheProgramOnTheLoop(t *testing.T) {
	for way, f := range map[string]func(){"panic": func() { panic("boom") }, "exit": runtime.Goexit} {
		t.Run(way, func(t *testing.T) {
			var ended []error
			backend := new(schedulertest.Scripted)
			loop := scheduler.NewScriptLoop(backend, scheduler.Options{
				LocalityWait: 1, Rack: func(string) string { f(); return "" },
				Listeners: []scheduler.Listener{{JobEnded: func(e scheduler.JobEnded) { ended = append(ended, e.Err) }}},
			})
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Host: "h", Slots: 4})
			g := new(schedulertest.Graph)
			src := g.Source("source", 2, nil)
			asked := 0
			src.Places = func(int) []string {
				if asked++; asked > 1 { // not when it is asked whether it has any
					f()
				}
				return []string{"elsewhere"}
			}
			job, _ := schedulertest.Collect(src)
			updates := 0
			job.Update = func(lineage.Update) { updates++; f() }
			loop.Submit(job)
			loop.Advance(2)
			tasks := backend.Launched()
			if len(tasks) != 2 || asked < 2 {
				t.Fatalf("%d tasks, asked %d times", len(tasks), asked)
			}
			for _, task := range tasks {
				end := schedulertest.Success(task, []int64{1})
				end.Updates = []lineage.Update{{ID: 1}}
				loop.TaskEnded(end)
			}
			if len(ended) != 1 || ended[0] != nil || updates != 2 || !loop.Idle() {
				t.Errorf("ends %v, %d updates, idle %t", ended, updates, loop.Idle())
			}
			asked = 1 // so that it fails at the first question, with the job
			job, _ = schedulertest.Collect(src)
			loop.Submit(job)
			if len(ended) != 2 || ended[1] == nil || errors.Is(ended[1], scheduler.ErrClosed) || !loop.Idle() {
				t.Errorf("ends %v, idle %t", ended, loop.Idle())
			}
		})
	}
}
