package schedulertest

import (
	"context"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A recorder is a sink that keeps what it is told.
type recorder struct {
	added chan scheduler.ExecutorID
	lost  chan scheduler.ExecutorID
	ends  chan *scheduler.TaskEnd
	may   func(id scheduler.TaskID) bool // answers MayCommit; nil: always true
}

func (r *recorder) ExecutorAdded(e scheduler.ExecutorInfo)                    { r.added <- e.ID }
func (r *recorder) ExecutorLost(id scheduler.ExecutorID, loss scheduler.Loss) { r.lost <- id }
func (r *recorder) TaskEnded(end *scheduler.TaskEnd)                          { r.ends <- end }
func (r *recorder) BlocksLost(scheduler.ExecutorID, []scheduler.BlockID)      {}
func (r *recorder) MayCommit(id scheduler.TaskID) bool                        { return r.may == nil || r.may(id) }

// serve runs a cluster and returns its sink and a function that stops it and waits.
func serve(t *testing.T, c Cluster) (*recorder, func()) {
	t.Helper()
	return serveWith(t, c, nil)
}

// serveWith is serve with an answer for tasks that ask to commit.
func serveWith(t *testing.T, c Cluster, may func(id scheduler.TaskID) bool) (*recorder, func()) {
	t.Helper()
	// The buffers hold more than any case reports, so that the backend never waits for the test.
	r := &recorder{make(chan scheduler.ExecutorID, 64), make(chan scheduler.ExecutorID, 64), make(chan *scheduler.TaskEnd, 256), may}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { over <- c.Run(ctx, r) })
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			wg.Wait()
			if err := <-over; err != nil {
				t.Errorf("run: %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return r, stop
}

// recv takes from ch or fails the test at its deadline.
func recv[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-t.Context().Done():
		t.Fatal("test ended")
		panic("unreachable")
	}
}

// resultTask returns a task that runs f as partition 0 of a node.
func resultTask(id scheduler.TaskID, on scheduler.ExecutorID, f func(ctx context.Context) ([]int64, error)) *scheduler.Task {
	return envTask(id, on, func(ctx context.Context, _ lineage.Env) ([]int64, error) { return f(ctx) })
}

// envTask is resultTask for an f that asks its executor for something.
func envTask(id scheduler.TaskID, on scheduler.ExecutorID, f func(ctx context.Context, env lineage.Env) ([]int64, error)) *scheduler.Task {
	node := new(Graph).Source("source", 1, nil)
	job := &lineage.Job{Name: "test", Final: node, Parts: []int{0}, Codec: Codec{},
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			rows, err := f(ctx, env)
			return rows, err
		}}
	return &scheduler.Task{ID: id, Executor: on, Attempt: lineage.Attempt{Job: int(id)}, Job: job,
		Address: scheduler.Address{Job: int(id), Name: "test", Node: node.ID()}}
}

func hang(ctx context.Context) ([]int64, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
