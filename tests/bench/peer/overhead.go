package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/leat-io/leat/tests/bench/workload"
)

// EmptyTasks runs the tasks of job, which do nothing but say that they ran, and returns how many
// did: a goroutine for each task of a stage, the next stage when all of them are done.
func EmptyTasks(job workload.Overhead) int {
	ran := 0
	done := make([]bool, max(job.Tasks, 0))
	for range job.Stages {
		clear(done)
		var stage sync.WaitGroup
		for task := range done {
			stage.Go(func() { done[task] = true })
		}
		stage.Wait()
		for _, ok := range done {
			if ok {
				ran++
			}
		}
	}
	return ran
}

// AppendSync appends n entries of size bytes to the file at path, forcing each to disk before the
// next, and returns how many are there: the least that a durable decision can cost.
//
// Errors: what the file reports, wrapped; ctx.Err(), between two entries.
func AppendSync(ctx context.Context, path string, size, n int) (appended int, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("append to log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	entry := make([]byte, max(size, 0))
	for appended < n {
		if err := ctx.Err(); err != nil {
			return appended, err
		}
		if _, err := f.Write(entry); err != nil {
			return appended, fmt.Errorf("append entry %d to log: %w", appended, err)
		}
		if err := f.Sync(); err != nil {
			return appended, fmt.Errorf("sync entry %d of log: %w", appended, err)
		}
		appended++
	}
	return appended, nil
}
