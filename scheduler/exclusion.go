package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// Exclusion keeps tasks away from executors and hosts where others have failed. The zero value does not;
// Enabled with the rest zero works. Failures that are not the task's fault do not count.
type Exclusion struct {
	Enabled bool
	// TaskExecutor and TaskHost are after how many failures a task does not run there again. 0 means 1 and 2.
	TaskExecutor, TaskHost int
	// StageExecutor is after how many failed tasks of a stage's attempt an executor gets none of it any more,
	// StageHost after how many such executors their host. 0 means 2.
	StageExecutor, StageHost int
	// Executor is after how many tasks that failed there, of attempts that succeeded in the end, an executor
	// gets no task at all, Host after how many such executors their host. 0 means 2.
	Executor, Host int
	// Timeout is for how long. 0 means 1h.
	Timeout time.Duration
	// FetchFailures excludes an executor whose outputs could not be read, at once.
	FetchFailures bool
	// Wait is how long a task that may run nowhere waits for a new executor, if the backend is a Replacer. 0
	// means 2m. Where it is none, or no executor is idle, the job fails at once.
	Wait time.Duration
}

// A Replacer is a Backend that can put a new executor in the place of another. Replace is called from the
// scheduler's loop and must not block; the loss of the one and the arrival of the other are reported.
type Replacer interface {
	Replace(id ExecutorID)
}

// An ExcludedError is the end of a job with a task that may run on no executor.
type ExcludedError struct {
	Stage, Partition int
	Err              error // the last failure in the stage
}

// Error returns which task it is and how the last one failed.
func (e *ExcludedError) Error() string {
	return fmt.Sprintf("stage %d partition %d is excluded from every executor, last failure: %s", e.Stage, e.Partition, text(e.Err))
}

// Unwrap returns the last failure.
func (e *ExcludedError) Unwrap() error { return e.Err }

func (o Exclusion) validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"TaskExecutor", int64(o.TaskExecutor)}, {"TaskHost", int64(o.TaskHost)},
		{"StageExecutor", int64(o.StageExecutor)}, {"StageHost", int64(o.StageHost)},
		{"Executor", int64(o.Executor)}, {"Host", int64(o.Host)},
		{"Timeout", int64(o.Timeout)}, {"Wait", int64(o.Wait)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("scheduler options: Exclusion.%s is negative", f.name))
		}
	}
	return errors.Join(errs...)
}

func (o Exclusion) withDefaults() Exclusion {
	for _, f := range []struct {
		field *int
		value int
	}{{&o.TaskExecutor, 1}, {&o.TaskHost, 2}, {&o.StageExecutor, 2}, {&o.StageHost, 2}, {&o.Executor, 2}, {&o.Host, 2}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if o.Timeout == 0 {
		o.Timeout = time.Hour
	}
	if o.Wait == 0 {
		o.Wait = 2 * time.Minute
	}
	return o
}
