package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
)

type executorID = scheduler.ExecutorID

// looks is how often a run is looked at.
const looks = 200

// endure runs the batches and checks each.
func endure(ctx context.Context, o options, out io.Writer) (err error) {
	if err := folders(o.dir); err != nil {
		return err
	}
	p := newProgram(o.dir, o.seed)
	if err := p.ssc.Start(ctx); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, p.ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{}))
	}()
	want := newModel()
	var seen []footprint
	for k := 1; k <= o.batches; k++ {
		p.faults.plan(o.every)
		if err := p.batch(ctx, k); err != nil {
			return fmt.Errorf("batch %d: %w", k, err)
		}
		want.add(k)
		if err := want.check(p); err != nil {
			return fmt.Errorf("batch %d: %w", k, err)
		}
		if k%max(1, o.batches/looks) == 0 {
			seen = append(seen, look())
		}
		if k%max(1, o.batches/10) == 0 {
			now := seen[len(seen)-1]
			fmt.Fprintf(out, "%d batches: heap %d KiB, %d goroutines, %d descriptors; %d executors lost, %d blocks damaged, %d functions failed\n",
				k, now.heap>>10, now.goroutines, now.descriptors, p.faults.done[lose], p.faults.done[damage], p.faults.done[fail])
		}
	}
	return flat(seen)
}

// A model gives the right answers, by a plain loop.
type model struct {
	counts map[int]int // over the window; a key that has left it stays, at zero
	state  map[int]int
}

func newModel() *model { return &model{counts: map[int]int{}, state: map[int]int{}} }

// add carries the answers on to batch k.
func (m *model) add(k int) {
	for _, key := range rowsOf(k) {
		m.counts[key]++
	}
	if k > window {
		for _, key := range rowsOf(k - window) {
			m.counts[key]--
		}
	}
	values := map[int]int{}
	for _, key := range rowsOf(k) {
		values[key]++
	}
	for key, n := range values {
		if m.state[key] += n; m.state[key] >= limit {
			delete(m.state, key)
		}
	}
}

func (m *model) check(p *program) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(same("window", p.counts, m.counts), same("state", p.state, m.state))
}

// same compares pairs with a map.
func same(what string, got []pair, want map[int]int) error {
	got = slices.SortedFunc(slices.Values(got), func(a, b pair) int { return cmp.Compare(a.Key, b.Key) })
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d keys, want %d: got %v, want %v", what, len(got), len(want), got, want)
	}
	for i, p := range got {
		if n, ok := want[p.Key]; !ok || n != p.Value || i > 0 && got[i-1].Key == p.Key {
			return fmt.Errorf("%s: key %d is %d, want %d", what, p.Key, p.Value, n)
		}
	}
	return nil
}

// A footprint is what a process has at one moment.
type footprint struct{ heap, goroutines, descriptors int }

func look() footprint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := footprint{heap: int(m.HeapAlloc), goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere they are not counted
		f.descriptors = len(open)
	}
	return f
}

// What the last tenth of a run may have more than the first.
const (
	moreHeap  = 2 << 20
	moreOther = 8 // goroutines and descriptors come and go with the executors that are lost
)

// flat compares the means of the first tenth and the last.
func flat(seen []footprint) error {
	n := len(seen) / 10
	if n == 0 {
		return nil
	}
	first, last := mean(seen[:n]), mean(seen[len(seen)-n:])
	var errs []error
	if last.heap > first.heap+moreHeap {
		errs = append(errs, fmt.Errorf("the heap has grown from %d to %d bytes", first.heap, last.heap))
	}
	if last.goroutines > first.goroutines+moreOther {
		errs = append(errs, fmt.Errorf("goroutines have grown from %d to %d", first.goroutines, last.goroutines))
	}
	if last.descriptors > first.descriptors+moreOther {
		errs = append(errs, fmt.Errorf("descriptors have grown from %d to %d", first.descriptors, last.descriptors))
	}
	return errors.Join(errs...)
}

func mean(seen []footprint) (m footprint) {
	for _, f := range seen {
		m.heap += f.heap
		m.goroutines += f.goroutines
		m.descriptors += f.descriptors
	}
	return footprint{m.heap / len(seen), m.goroutines / len(seen), m.descriptors / len(seen)}
}

// settled waits until the process has no more goroutines and descriptors than before, or for a while: what a stop has
// ended may need a moment more to be gone.
func settled(before footprint) footprint {
	now := look()
	for range 50 {
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			break
		}
		<-time.After(20 * time.Millisecond)
		now = look()
	}
	return now
}
