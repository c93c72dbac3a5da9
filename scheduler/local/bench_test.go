package local_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// BenchmarkEmptyJob measures what a job costs when its tasks do nothing: the fixed cost of a batch.
// The slope over tasks is the cost of one more task.
func BenchmarkEmptyJob(b *testing.B) {
	for _, tasks := range []int{1, 4, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
			defer s.Close()
			job := emptyJob(tasks)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Run(b.Context(), job); err != nil {
					b.Fatal(err)
				}
			}
			perJob(b, tasks)
		})
		// What two goroutines per task would cost without a scheduler.
		b.Run(fmt.Sprintf("tasks=%d/plain", tasks), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var wg sync.WaitGroup
				for range tasks {
					wg.Go(func() {})
				}
				wg.Wait()
			}
			perJob(b, tasks)
		})
	}
}

// BenchmarkEmptyShuffle is BenchmarkEmptyJob with a map stage before.
func BenchmarkEmptyShuffle(b *testing.B) {
	for _, tasks := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
			defer s.Close()
			b.ReportAllocs()
			batch := int64(0)
			for b.Loop() {
				batch++
				g := &schedulertest.Graph{Scope: lineage.Scope{Batch: batch, Stream: 1}}
				src := g.Source("source", tasks, func(int) []int64 { return nil })
				job, _ := schedulertest.Collect(g.Shuffle("shuffle", src, tasks))
				if err := s.Run(b.Context(), job); err != nil {
					b.Fatal(err)
				}
				s.Drop(lineage.Drop{Scopes: []lineage.Scope{g.Scope}})
			}
			perJob(b, 2*tasks)
		})
	}
}

func perJob(b *testing.B, tasks int) {
	perJob := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(perJob/1e3, "us/job")
	b.ReportMetric(perJob/float64(tasks), "ns/task")
	b.ReportMetric(0, "ns/op")
}

func emptyJob(tasks int) lineage.Job {
	node := new(schedulertest.Graph).Source("source", tasks, nil)
	job, _ := schedulertest.Collect(node)
	job.Run = func(context.Context, lineage.Env, int) (lineage.Block, error) { return nil, nil }
	job.Done = nil
	return job
}
