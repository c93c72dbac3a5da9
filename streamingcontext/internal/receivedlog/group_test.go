package receivedlog_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// busy returns a log in the middle of a flush, and what ends the flush. It is used in a bubble.
func busy(t *testing.T) (log *receivedlog.Log, disk *memFS, release func(), first func() error) {
	disk = newMemFS()
	log = open(t, "received", receivedlog.Options{FS: disk})
	put(t, log, "before")
	gate := make(chan struct{})
	disk.mu.Lock()
	disk.onSync = func() { <-gate }
	disk.mu.Unlock()
	err := later(func() error {
		_, err := log.Append(t.Context(), 0, []byte("first"), []byte("m:first"))
		return err
	})
	synctest.Wait()
	return log, disk, sync.OnceFunc(func() {
		disk.mu.Lock()
		disk.onSync = nil
		disk.mu.Unlock()
		close(gate)
	}), err
}

// later calls f on a goroutine of its own and returns what waits for its answer.
func later(f func() error) func() error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return func() error { return <-done }
}

// Appends that come while the disk is busy go into the next group, in the order they came, and share one flush.
// Shows L3.
func TestOneFlushForThoseWhoWait_L3(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, disk, release, first := busy(t)
		var waiting []func() error
		for _, ms := range []int{5, 8, 12, 10} {
			block := fmt.Sprint(ms)
			waiting = append(waiting, later(func() error {
				_, err := log.Append(t.Context(), 0, []byte(block), []byte("m:"+block))
				return err
			}))
			synctest.Wait()
		}
		before := disk.syncs
		release()
		for _, wait := range append(waiting, first) {
			if err := wait(); err != nil {
				t.Error(err)
			}
		}
		if n := disk.syncs - before; n != 2 { // the one in progress, and one for the four
			t.Errorf("%d flushes", n)
		}
		wantHeld(t, log, "before", "first", "5", "8", "12", "10")
	})
}

// Shows L4.
func TestCloseFailsThoseWhoWait_L4(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, disk, release, first := busy(t)
		var waiting []func() error
		for range 3 {
			waiting = append(waiting, later(func() error {
				_, err := log.Append(t.Context(), 0, []byte("late"), nil)
				return err
			}))
		}
		synctest.Wait()
		closed, again := later(log.Close), later(log.Close)
		for _, wait := range waiting {
			if err := wait(); !errors.Is(err, receivedlog.ErrClosed) {
				t.Errorf("an append that waited: %v", err)
			}
		}
		release()
		if err := errors.Join(first(), closed(), again()); err != nil {
			t.Error(err)
		}
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk}), "before", "first")
	})
}

// An append whose context ends before it is written leaves; those beside it stay.
func TestContextEndsWhileWaiting(t *testing.T) {
	for _, others := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			log, _, release, first := busy(t)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("gives up"))
			defer cancel()
			impatient := later(func() error {
				_, err := log.Append(ctx, 0, []byte("impatient"), []byte("m:impatient"))
				return err
			})
			synctest.Wait()
			var waiting []func() error
			for range others {
				waiting = append(waiting, later(func() error {
					_, err := log.Append(t.Context(), 0, []byte("patient"), []byte("m:patient"))
					return err
				}))
			}
			if err := impatient(); err == nil || !errors.Is(err, context.Cause(ctx)) {
				t.Errorf("the one that gave up: %v", err)
			}
			release()
			for _, wait := range append(waiting, first) {
				if err := wait(); err != nil {
					t.Error(err)
				}
			}
			put(t, log, "after")
			want := []string{"before", "first", "after"}
			if others > 0 { // it shares its group, so it is written: nobody was told that it is not
				want = []string{"before", "first", "impatient", "patient", "patient", "after"}
			}
			wantHeld(t, log, want...)
		})
	}
}

// More than a group waits before it is copied.
func TestMoreThanOneGroupWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, disk, release, first := busy(t)
		large := make([]byte, 3<<20)
		var waiting []func() error
		for i := range 6 {
			waiting = append(waiting, later(func() error {
				_, err := log.Append(t.Context(), int32(i), large, nil)
				return err
			}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := later(func() error { _, err := log.Append(ctx, 9, large, nil); return err })(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that found no room: %v", err)
		}
		before := disk.syncs
		release()
		for _, wait := range append(waiting, first) {
			if err := wait(); err != nil {
				t.Error(err)
			}
		}
		if n := disk.syncs - before; n < 4 || n > 7 { // two blocks a group at most
			t.Errorf("%d flushes", n)
		}
	})
}

// Many goroutines append, read, scan and clean at the same time: each block is there once, as it was.
func TestManyAppendTogether(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir, receivedlog.Options{SegmentBytes: 4 << 10})
	const goroutines, each = 16, 30
	var wait sync.WaitGroup
	for g := range goroutines {
		wait.Go(func() {
			for i := range each {
				block := fmt.Sprintf("%d of %d", i, g)
				at, err := log.Append(t.Context(), int32(g), []byte(block), []byte("m:"+block))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := log.Read(at); err != nil || string(got) != block {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wait.Go(func() {
		for range 20 {
			if err := log.Scan(t.Context(), func(receivedlog.Entry) error { return nil }); err != nil {
				t.Error(err)
			}
			if _, err := log.Clean(receivedlog.Address{Segment: 1}); err != nil {
				t.Error(err)
			}
		}
	})
	wait.Wait()
	got, err := held(t, log)
	if err != nil {
		t.Error(err)
	}
	next := map[string]int{}
	for _, block := range got {
		var i int
		var g string
		if _, err := fmt.Sscanf(block, "%d of %s", &i, &g); err != nil || i != next[g] {
			t.Errorf("%s, want number %d: %v", block, next[g], err)
		}
		next[g]++
	}
	if diff := cmp.Diff(goroutines*each, len(got)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}
