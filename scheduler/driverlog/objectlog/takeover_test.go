package objectlog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

// silent is a store whose user cannot renew its record while quiet is set, as a process that is stopped.
type silent struct {
	blobstore.Store
	quiet atomic.Bool
}

func (s *silent) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (blobstore.Tag, error) {
	if s.quiet.Load() {
		return "", blobtest.ErrFault
	}
	return s.Store.CompareAndSwap(ctx, name, old, data)
}

func batches(t *testing.T, store blobstore.Store) int64 {
	t.Helper()
	info, err := objectlog.Verify(context.Background(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	return info.State.App("app").Next
}

func TestTakeover(t *testing.T) {
	t.Run("an_owner_that_lives_is_named", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := blobtest.NewMemory()
			first := open(t, store, objectlog.Options{Node: "first"})
			defer closeLog(t, first)
			r := lead(t, first)
			<-time.After(time.Hour) // renewed all the while
			r.batches(t, 2)
			<-time.After(time.Minute)
			for _, wait := range []time.Duration{0, 25 * time.Second} {
				begun := time.Now()
				_, err := objectlog.Open(t.Context(), store, objectlog.Options{Node: "second", Wait: wait})
				var locked *objectlog.LockedError
				if !errors.As(err, &locked) || locked.Holder.Node != "first" || locked.Holder.Epoch != r.epoch || locked.Holder.Last != 7 ||
					!strings.Contains(err.Error(), "first") {
					t.Errorf("Open = %v, want a LockedError that names first", err)
				}
				if took := time.Since(begun); took != wait {
					t.Errorf("Open took %s, want %s", took, wait)
				}
			}
		})
	})
	t.Run("one_that_was_killed_is_followed_when_its_record_lapses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := blobtest.NewMemory()
			first := open(t, store, objectlog.Options{Node: "first"})
			lead(t, first).batches(t, 3)
			first.Kill()
			begun := time.Now()
			second := open(t, store, objectlog.Options{Node: "second", Wait: time.Minute})
			defer closeLog(t, second)
			if took := time.Since(begun); took > objectlog.DefaultLease+2*time.Second {
				t.Errorf("took over after %s", took)
			}
			if r := lead(t, second); r.next != 3 {
				t.Errorf("next batch %d, want 3", r.next)
			}
		})
	})
	t.Run("one_that_closed_is_followed_at_once", func(t *testing.T) {
		store := blobtest.NewMemory()
		for range 3 {
			log := open(t, store, objectlog.Options{})
			lead(t, log).batches(t, 1)
			closeLog(t, log)
		}
		if got := batches(t, store); got != 3 {
			t.Errorf("%d batches, want 3", got)
		}
	})
	t.Run("a_clock_that_is_ahead_keeps_nobody_out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := blobtest.NewMemory()
			ahead := `{"writer":"00","node":"ahead","renewed":"2099-01-01T00:00:00Z","lease_ns":5000000000}`
			if err := store.PutIfAbsent(t.Context(), "driver/owner", []byte(ahead)); err != nil {
				t.Fatal(err)
			}
			closeLog(t, open(t, store, objectlog.Options{Wait: 10 * time.Second}))
		})
	})
	t.Run("one_that_wakes_up_is_fenced_and_follows_again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := blobtest.NewMemory()
			asleep := &silent{Store: memory}
			first := open(t, asleep, objectlog.Options{Node: "first", SnapshotEvery: 5})
			defer closeLog(t, first)
			old := lead(t, first)
			old.batches(t, 4)
			term, err := first.Lead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			asleep.quiet.Store(true)
			second := open(t, memory, objectlog.Options{Node: "second", SnapshotEvery: 5, Wait: time.Minute})
			r := lead(t, second)
			r.batches(t, 50) // what the first would write next has long been removed

			before := memory.Names()
			var fenced *driverlog.FencedError
			if err := old.batch(); !errors.As(err, &fenced) || fenced.Have != r.epoch || fenced.Got != old.epoch {
				t.Fatalf("ProposeAll of the first = %v, want a FencedError", err)
			}
			<-term.Lost
			if _, err := first.Propose(t.Context(), old.committed(0)); !driverlog.Refused(err) {
				t.Errorf("Propose = %v, want a refusal", err)
			}
			foreign := old.begin(54)
			foreign.Epoch = r.epoch
			if _, err := first.Propose(t.Context(), foreign); !errors.Is(err, driverlog.ErrNotLeader) {
				t.Errorf("Propose under the other's epoch = %v, want ErrNotLeader", err)
			}
			if after := memory.Names(); !slices.Equal(before, after) {
				t.Errorf("the first wrote something: %q", after)
			}
			r.batches(t, 1)

			asleep.quiet.Store(false)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := first.Lead(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Lead beside another owner = %v", err)
			}
			closeLog(t, second)
			again := lead(t, first)
			if again.epoch <= r.epoch || again.next != 55 {
				t.Errorf("epoch %d after %d, next batch %d", again.epoch, r.epoch, again.next)
			}
			again.batches(t, 20)
			if got := batches(t, memory); got != 75 {
				t.Errorf("%d batches, want 75", got)
			}
		})
	})
	t.Run("one_that_slept_before_it_led_finds_out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := blobtest.NewMemory()
			quiet := &silent{Store: memory}
			first := open(t, quiet, objectlog.Options{Node: "first", SnapshotEvery: 5})
			defer closeLog(t, first)
			r := lead(t, first)
			r.batches(t, 2)
			quiet.quiet.Store(true)
			second := open(t, memory, objectlog.Options{Node: "second", SnapshotEvery: 5, Wait: time.Minute})
			defer closeLog(t, second)
			r.batches(t, 50) // the first is slow, not dead; all the second has read is removed
			late := lead(t, second)
			if late.next != 52 {
				t.Fatalf("the second begins with batch %d, want 52", late.next)
			}
			late.batches(t, 3)
			if err := r.batch(); !driverlog.Refused(err) {
				t.Errorf("ProposeAll of the first = %v, want a refusal", err)
			}
			if got := batches(t, memory); got != 55 {
				t.Errorf("%d batches, want 55", got)
			}
		})
	})
	t.Run("close_ends_a_wait_for_another_owner", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			memory := blobtest.NewMemory()
			quiet := &silent{Store: memory}
			first := open(t, quiet, objectlog.Options{})
			quiet.quiet.Store(true)
			second := open(t, memory, objectlog.Options{Wait: time.Minute})
			defer closeLog(t, second)
			lead(t, second)
			quiet.quiet.Store(false)
			result := make(chan error)
			go func() {
				_, err := first.Lead(context.Background())
				result <- err
			}()
			<-time.After(time.Minute)
			closeLog(t, first)
			if err := <-result; !errors.Is(err, driverlog.ErrClosed) {
				t.Errorf("Lead = %v, want ErrClosed", err)
			}
		})
	})
}

func TestSizeDoesNotGrowWithBatches(t *testing.T) {
	memory := blobtest.NewMemory()
	log := open(t, memory, objectlog.Options{SnapshotEvery: 10})
	r := lead(t, log)
	r.batches(t, 40)
	few := len(memory.Names())
	r.batches(t, 400)
	closeLog(t, log)
	if many := len(memory.Names()); many > few+10 {
		t.Errorf("%d objects after 440 batches, %d after 40", many, few)
	}
	for i := range 20 { // every change of hands leaves one
		log := open(t, memory, objectlog.Options{SnapshotEvery: 10})
		lead(t, log).batches(t, 10)
		if fences := log.Fences(); len(fences) != i+2 {
			t.Errorf("%d fences after %d drivers", len(fences), i+2)
		}
		closeLog(t, log)
	}
	if many := len(memory.Names()); many > few+10+20 {
		t.Errorf("%d objects after 20 more drivers", many)
	}
}
