package rdd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// inlineRunner runs jobs on the caller's goroutine: map stages depth first, buckets in a map. It
// retries nothing and is the oracle of what the scheduler's executors must answer. With Isolate
// everything goes through its codec, as between processes.
type inlineRunner struct {
	Isolate bool
	Memory  *inlineMemory // nil: as much as is asked for

	mu       sync.Mutex // guards the rest; one job runs at a time
	jobs     []inlineJob
	tasks    int // map tasks and result tasks run
	shuffles map[lineage.ShuffleID][]inlineBuckets
	kept     map[lineage.NodeID]map[int][]lineage.Block
}

// inlineJob is what one job was asked to do.
type inlineJob struct {
	name  string
	parts []int
}

func newInlineRunner(isolate bool) *inlineRunner {
	return &inlineRunner{Isolate: isolate, shuffles: map[lineage.ShuffleID][]inlineBuckets{}, kept: map[lineage.NodeID]map[int][]lineage.Block{}}
}

func (r *inlineRunner) Run(ctx context.Context, job lineage.Job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := job.Final.NumPartitions(); err != nil {
		return err
	}
	r.jobs = append(r.jobs, inlineJob{job.Name, job.Parts})
	if job.Map != nil {
		return r.mapOnly(ctx, job)
	}
	if len(job.Parts) == 0 {
		return nil
	}
	for _, stage := range lineage.Cut(job.Final) {
		if stage.Shuffle == nil || r.shuffles[stage.Shuffle.ID] != nil {
			continue
		}
		if err := r.write(ctx, job, stage.Shuffle); err != nil {
			return err
		}
	}
	for i, part := range job.Parts {
		env := r.env(job, part)
		b, err := job.Run(ctx, env, part)
		if err != nil {
			return r.carry(err)
		}
		if err := r.update(job, env); err != nil {
			return err
		}
		if b, err = r.cross(job.Codec, b); err != nil {
			return err
		}
		if err := job.Done(i, b); err != nil {
			return err
		}
	}
	return nil
}

// mapOnly writes a shuffle and says what its buckets measure.
func (r *inlineRunner) mapOnly(ctx context.Context, job lineage.Job) error {
	for _, stage := range lineage.Cut(job.Final) {
		if stage.Shuffle != nil && r.shuffles[stage.Shuffle.ID] == nil {
			if err := r.write(ctx, job, stage.Shuffle); err != nil {
				return err
			}
		}
	}
	if r.shuffles[job.Map.ID] == nil {
		if err := r.write(ctx, job, job.Map); err != nil {
			return err
		}
	}
	sizes := [][]int64{}
	for _, buckets := range r.shuffles[job.Map.ID] {
		row := make([]int64, len(buckets))
		for i, blocks := range buckets {
			for _, b := range blocks {
				row[i] += job.Map.Codec.Size(b)
			}
		}
		sizes = append(sizes, row)
	}
	job.Sizes(sizes)
	return nil
}

// env is the Env of the next task.
func (r *inlineRunner) env(job lineage.Job, part int) *inlineEnv {
	r.tasks++
	return &inlineEnv{runner: r, part: part, task: int64(r.tasks), properties: job.Properties}
}

// update reports what a task has added to accumulators.
func (r *inlineRunner) update(job lineage.Job, env *inlineEnv) error {
	for _, a := range env.order {
		u := lineage.Update{ID: a.ID, Name: a.Name, Value: env.parts[a]}
		if r.Isolate {
			var err error
			if u.Data, err = a.Codec.Encode(u.Value); err != nil {
				return err
			}
			u.Value = nil
		}
		job.Update(u)
	}
	return nil
}

// Kept and Written make the runner an Inspector.
func (r *inlineRunner) Kept(node lineage.NodeID) []bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kept []bool
	for part := range r.kept[node] {
		for len(kept) <= part {
			kept = append(kept, false)
		}
		kept[part] = true
	}
	return kept
}

func (r *inlineRunner) Written(id lineage.ShuffleID) (have, maps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.shuffles[id]), len(r.shuffles[id])
}

func (r *inlineRunner) write(ctx context.Context, job lineage.Job, s *lineage.Shuffle) error {
	n, err := s.Parent.NumPartitions()
	if err != nil {
		return err
	}
	outputs := make([]inlineBuckets, n)
	for part := range n {
		env, buckets := r.env(job, part), make(inlineBuckets, s.NumReducers)
		if err := s.Write(ctx, env, part, buckets); err != nil {
			return r.carry(err)
		}
		if err := r.update(job, env); err != nil {
			return err
		}
		outputs[part] = buckets
	}
	r.shuffles[s.ID] = outputs
	return nil
}

// inlineBuckets are the blocks of each bucket of a map task.
type inlineBuckets [][]lineage.Block

func (o inlineBuckets) Put(reduce int, b lineage.Block) error {
	o[reduce] = append(o[reduce], b)
	return nil
}

// cross sends a block through its codec where the runner isolates.
func (r *inlineRunner) cross(c lineage.Codec, b lineage.Block) (lineage.Block, error) {
	if !r.Isolate {
		return b, nil
	}
	data, err := c.Encode(b)
	if err != nil {
		return nil, err
	}
	return c.Decode(data)
}

// carry sends an error through its codec where the runner isolates.
func (r *inlineRunner) carry(err error) error {
	if !r.Isolate {
		return err
	}
	c := NewErrorCodec()
	if data, ok := c.Encode(err); ok {
		return c.Decode(data)
	}
	return err
}

func (r *inlineRunner) Drop(d lineage.Drop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.kept {
		if d.Covers(id) {
			delete(r.kept, id)
		}
	}
	for id := range r.shuffles {
		if d.CoversShuffle(id) {
			delete(r.shuffles, id)
		}
	}
}

// ran returns the jobs since the last call.
func (r *inlineRunner) ran() []inlineJob {
	r.mu.Lock()
	defer r.mu.Unlock()
	jobs := r.jobs
	r.jobs = nil
	return jobs
}

// inlineEnv is the Env of one task.
type inlineEnv struct {
	runner     *inlineRunner
	part       int
	task       int64
	properties lineage.Properties
	metrics    lineage.Metrics
	parts      map[*lineage.Accumulator]lineage.Block
	order      []*lineage.Accumulator // of parts
}

func (e *inlineEnv) Attempt() lineage.Attempt {
	return lineage.Attempt{Partition: e.part, Task: e.task}
}

func (e *inlineEnv) Properties() lineage.Properties { return e.properties }
func (e *inlineEnv) Metrics() *lineage.Metrics      { return &e.metrics }
func (e *inlineEnv) Commit(context.Context) error   { return nil }

func (e *inlineEnv) Broadcast(ctx context.Context, b *lineage.Broadcast) (lineage.Block, error) {
	data, err := b.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	return b.Codec.Decode(data)
}

func (e *inlineEnv) Accumulate(a *lineage.Accumulator) lineage.Block {
	if e.parts == nil {
		e.parts = map[*lineage.Accumulator]lineage.Block{}
	}
	if e.parts[a] == nil {
		e.parts[a] = a.Zero()
		e.order = append(e.order, a)
	}
	return e.parts[a]
}

func (e *inlineEnv) Persisted(_ context.Context, node lineage.NodeID, part int, p lineage.Persistence, compute func(put func(lineage.Block) error) error, yield func(lineage.Block) error) error {
	blocks, ok := e.runner.kept[node][part]
	if !ok {
		err := compute(func(b lineage.Block) error {
			blocks = append(blocks, b)
			return nil
		})
		if err != nil {
			return err
		}
		if e.runner.kept[node] == nil {
			e.runner.kept[node] = map[int][]lineage.Block{}
		}
		e.runner.kept[node][part] = blocks
	}
	for _, b := range blocks {
		b, err := e.runner.cross(p.Codec, b)
		if err != nil {
			return err
		}
		if err := yield(b); err != nil {
			return err
		}
	}
	return nil
}

func (e *inlineEnv) Fetch(ctx context.Context, s *lineage.Shuffle, reduce int, yield func(int, lineage.Block) error) error {
	outputs, ok := e.runner.shuffles[s.ID]
	if !ok {
		return fmt.Errorf("shuffle %s was not written", s.ID)
	}
	for part, buckets := range outputs {
		for _, b := range buckets[reduce] {
			b, err := e.runner.cross(s.Codec, b)
			if err != nil {
				return err
			}
			if err := yield(part, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// localRunner is a scheduler over executors in this process, with what listeners heard.
type localRunner struct {
	*scheduler.Scheduler
	cluster *local.Cluster
}

func newLocalRunner(t testing.TB, executors int, isolate bool, listeners ...scheduler.Listener) *localRunner {
	cluster := local.New(local.Options{
		Executors: executors, Slots: 2, Isolate: isolate,
		ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(NewErrorCodec())},
	})
	s := scheduler.New(cluster, scheduler.Options{Listeners: listeners})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &localRunner{Scheduler: s, cluster: cluster}
}

// runners is every way the suite is run.
func runners() []struct {
	name string
	open func(t testing.TB) Runner
} {
	return []struct {
		name string
		open func(t testing.TB) Runner
	}{
		{"inline", func(testing.TB) Runner { return newInlineRunner(false) }},
		{"inline-isolate", func(testing.TB) Runner { return newInlineRunner(true) }},
		{"local-1", func(t testing.TB) Runner { return newLocalRunner(t, 1, false) }},
		{"local-3", func(t testing.TB) Runner { return newLocalRunner(t, 3, false) }},
		{"local-1-isolate", func(t testing.TB) Runner { return newLocalRunner(t, 1, true) }},
		{"local-3-isolate", func(t testing.TB) Runner { return newLocalRunner(t, 3, true) }},
	}
}

// onRunners runs a test on every runner, each with a context of its own.
func onRunners(t *testing.T, opts Options, test func(t *testing.T, c *Context)) {
	t.Helper()
	for _, r := range runners() {
		t.Run(r.name, func(t *testing.T) { test(t, newTestContext(t, r.open(t), opts)) })
	}
}

func newTestContext(t testing.TB, runner Runner, opts Options) *Context {
	t.Helper()
	c, err := NewContext(runner, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inlineContext is a context over an inlineRunner, for what is the same on every runner.
func inlineContext(t testing.TB, opts Options) (*Context, *inlineRunner) {
	t.Helper()
	r := newInlineRunner(false)
	return newTestContext(t, r, opts), r
}

// collect returns all records of r.
func collect[T any](t testing.TB, r *RDD[T]) []T {
	t.Helper()
	rows, err := r.Collect(t.Context())
	if err != nil {
		t.Fatalf("collect %s: %v", r, err)
	}
	return rows
}

// partsOf returns the records of r by partition, empty ones as nil.
func partsOf[T any](t testing.TB, r *RDD[T]) [][]T {
	t.Helper()
	parts, err := r.CollectPartitions(t.Context())
	if err != nil {
		t.Fatalf("collect %s: %v", r, err)
	}
	for i := range parts {
		if len(parts[i]) == 0 {
			parts[i] = nil
		}
	}
	return parts
}

// same fails the test unless got is want.
func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}

// wantErr fails the test unless err is one of target's.
func wantErr(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: error %v, want %v", what, err, target)
	}
}

// sizeOf is the partition count of r.
func sizeOf[T any](t testing.TB, r *RDD[T]) int {
	t.Helper()
	n, err := r.NumPartitions()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kv makes a pair.
func kv[K, V any](k K, v V) Pair[K, V] { return Pair[K, V]{Key: k, Value: v} }

// must returns v of a call that may not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func add[N int | int64 | float64 | string](a, b N) N { return a + b }

// upTo is 1, 2, ... n.
func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i + 1
	}
	return rows
}
