package boltlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// TestStorageErrors makes the disk fail at each write of a batch, before and after the write has become durable.
// Shows C-15, C-16.
func TestStorageErrors_C15_C16(t *testing.T) {
	for _, point := range []string{"before commit", "after commit"} {
		for _, every := range []int{1, 1024} { // a snapshot, an entry
			t.Run(point+map[int]string{1: "_of_a_snapshot", 1024: "_of_entries"}[every], func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "driver.db")
				for writes := range 4 {
					log := open(t, path, every)
					r := lead(t, log)
					term, err := log.Lead(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					left := writes
					log.SetFault(func(at string) error {
						if at == point {
							if left--; left < 0 {
								return syscall.ENOSPC
							}
						}
						return nil
					})
					var failed driverlog.Command
					for id := r.next; failed.Kind == 0; id++ {
						for _, cmd := range []driverlog.Command{r.begin(id), r.prepared(id), r.committed(id)} {
							if _, err = log.Propose(t.Context(), cmd); err != nil {
								failed = cmd
								break
							}
						}
					}
					var storage *boltlog.StorageError
					if !errors.Is(err, driverlog.ErrUnknown) || !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &storage) || storage.Path != path {
						t.Fatalf("%s of batch %d = %v, want ErrUnknown around a StorageError around ENOSPC", failed.Kind, failed.Batch, err)
					}
					<-term.Lost
					left = 1000 // space is there again, but this log is over
					if _, err := log.Propose(t.Context(), failed); !errors.Is(err, driverlog.ErrUnknown) || !errors.Is(err, syscall.ENOSPC) {
						t.Errorf("Propose after the failure = %v, want ErrUnknown around ENOSPC", err)
					}
					if _, err := log.Lead(t.Context()); !errors.Is(err, driverlog.ErrUnknown) {
						t.Errorf("Lead after the failure = %v, want ErrUnknown", err)
					}
					if _, err := log.State(t.Context()); !errors.Is(err, driverlog.ErrUnknown) {
						t.Errorf("State after the failure = %v, want ErrUnknown", err)
					}
					if err := log.Close(); err != nil {
						t.Errorf("Close after the failure: %v", err)
					}

					log = open(t, path, every)
					r = lead(t, log)
					state, err := log.State(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					app := state.App("app")
					b, ok := app.Batch(failed.Batch)
					took := failed.Kind == driverlog.Begin && ok || failed.Kind == driverlog.Prepared && b.Prepared != 0
					if took != (point == "after commit") {
						t.Errorf("%s of batch %d took effect: %t", failed.Kind, failed.Batch, took)
					}
					for _, b := range app.Open { // as a new leader does
						r.propose(t, r.prepared(b.ID))
						r.propose(t, r.committed(b.ID))
					}
					if err := log.Close(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
	t.Run("of_the_last_write_is_returned_by_Close", func(t *testing.T) {
		log := open(t, filepath.Join(t.TempDir(), "driver.db"), 0)
		r := lead(t, log)
		r.all(t, r.begin(0), r.prepared(0))
		r.propose(t, r.committed(0))
		log.SetFault(func(string) error { return syscall.EIO })
		if err := log.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("Close = %v, want EIO", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
	t.Run("calls_that_waited_have_had_no_effect", func(t *testing.T) {
		log := open(t, filepath.Join(t.TempDir(), "driver.db"), 0)
		r := lead(t, log)
		entered, fail := make(chan struct{}), make(chan struct{})
		log.SetFault(func(string) error {
			close(entered)
			<-fail
			return syscall.EIO
		})
		var wg sync.WaitGroup
		var first, second error
		wg.Go(func() { _, first = log.Propose(t.Context(), r.begin(0)) })
		<-entered
		wg.Go(func() {
			other := r.begin(0)
			other.App = "other"
			_, second = log.Propose(t.Context(), other)
		})
		log.AwaitQueued(1)
		close(fail)
		wg.Wait()
		if !errors.Is(first, driverlog.ErrUnknown) || !errors.Is(second, driverlog.ErrNotLeader) || !errors.Is(second, syscall.EIO) {
			t.Errorf("answers %v and %v, want ErrUnknown and ErrNotLeader, around EIO", first, second)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Run("a_panic_of_bbolt_is_one", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		log := open(t, path, 0)
		r := lead(t, log)
		log.SetFault(func(string) error { panic("assertion failed") })
		if _, err := log.Propose(t.Context(), r.begin(0)); !errors.Is(err, driverlog.ErrUnknown) {
			t.Errorf("Propose = %v, want ErrUnknown", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		log = open(t, path, 0) // the locks were given back
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Run("a_file_cut_short_under_its_owner_is_one", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		log := open(t, path, 0)
		r := lead(t, log)
		r.batches(t, 1)
		if err := os.Truncate(path, 3*boltlog.PageSize); err != nil {
			t.Fatal(err)
		}
		var storage *boltlog.StorageError
		if _, err := log.Propose(t.Context(), r.begin(1)); !errors.As(err, &storage) {
			t.Errorf("Propose = %v, want a StorageError", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		var corrupt *boltlog.CorruptError
		if _, err := boltlog.Open(path, boltlog.Options{}); !errors.As(err, &corrupt) {
			t.Errorf("Open = %v, want a CorruptError", err)
		}
	})
	t.Run("a_file_replaced_under_its_owner_is_one", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "driver.db")
		log := open(t, path, 0)
		r := lead(t, log)
		r.batches(t, 1)
		if err := copyFile(path, path+".copy"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".copy", path); err != nil {
			t.Fatal(err)
		}
		var storage *boltlog.StorageError
		if _, err := log.Propose(t.Context(), r.begin(1)); !errors.As(err, &storage) {
			t.Errorf("Propose = %v, want a StorageError", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestTransactions(t *testing.T) {
	t.Run("D7_three_entries_of_a_batch_cost_one_together_and_two_apart", func(t *testing.T) {
		log := open(t, filepath.Join(t.TempDir(), "driver.db"), 0)
		defer log.Close()
		r := lead(t, log)
		r.batches(t, 1)
		before := log.Transactions()
		r.batches(t, 1)
		if got := log.Transactions() - before; got != 1 {
			t.Errorf("a batch proposed together cost %d transactions, want 1", got)
		}
		before = log.Transactions()
		r.propose(t, r.begin(2))
		r.propose(t, r.prepared(2))
		r.propose(t, r.committed(2))
		if got := log.Transactions() - before; got != 2 {
			t.Errorf("a batch proposed one by one cost %d transactions, want 2", got)
		}
		before = log.Transactions()
		r.propose(t, r.committed(2))
		if _, err := log.Propose(t.Context(), r.begin(9)); !driverlog.Refused(err) {
			t.Errorf("Propose = %v, want a refusal", err)
		}
		if got := log.Transactions() - before; got != 0 {
			t.Errorf("a duplicate and a refusal cost %d transactions, want none", got)
		}
	})
	t.Run("calls_that_overlap_share_one", func(t *testing.T) {
		log := open(t, filepath.Join(t.TempDir(), "driver.db"), 0)
		defer log.Close()
		r := lead(t, log)
		entered, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		log.SetFault(func(string) error {
			once.Do(func() {
				close(entered)
				<-goOn
			})
			return nil
		})
		before := log.Transactions()
		var wg sync.WaitGroup
		begin := func(app string) {
			wg.Go(func() {
				cmd := r.begin(0)
				cmd.App = app
				if _, err := log.Propose(t.Context(), cmd); err != nil {
					t.Errorf("begin of %s: %v", app, err)
				}
			})
		}
		begin("first")
		<-entered
		for i := range 20 {
			begin(string(rune('a' + i)))
		}
		log.AwaitQueued(20)
		// One more goes away before its turn.
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			cmd := r.begin(0)
			cmd.App = "gone"
			if _, err := log.Propose(ctx, cmd); !errors.Is(err, context.Canceled) || errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("Propose = %v, want context.Canceled and a known outcome", err)
			}
		})
		log.AwaitQueued(21)
		cancel()
		log.AwaitQueued(20)
		close(goOn)
		wg.Wait()
		if got := log.Transactions() - before; got != 2 {
			t.Errorf("21 calls cost %d transactions, want 2", got)
		}
		state, err := log.State(t.Context())
		if err != nil || len(state.Apps) != 21 {
			t.Errorf("%d applications, want 21; %v", len(state.Apps), err)
		}
	})
}

// TestSize compares the file, the heap and the open files early and late in a long life.
func TestSize(t *testing.T) {
	t.Run("D8_nothing_grows_over_100000_batches", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		log := open(t, path, 0)
		defer log.Close()
		r := lead(t, log)
		r.propose(t, r.application())
		// run runs batches, 100 in a transaction so that the disk does not decide how long this takes.
		run := func(batches int) (file int64, heap uint64, files int) {
			for range batches / 100 {
				var cmds []driverlog.Command
				for range 100 {
					cmds = append(cmds, r.begin(r.next), r.prepared(r.next), r.committed(r.next))
					r.next++
				}
				r.all(t, append(cmds, driverlog.Command{Kind: driverlog.Checkpointed, Epoch: r.epoch, App: "app",
					Batch: r.next - 1, Keep: r.next - 5, Manifest: []byte("files")})...)
			}
			info, err := boltlog.Verify(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Entries > boltlog.DefaultSnapshotEvery || len(info.State.Apps[0].Kept) > 5 {
				t.Errorf("%d entries and %d batches are kept", info.Entries, len(info.State.Apps[0].Kept))
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			open, err := os.ReadDir("/dev/fd")
			if err != nil {
				t.Fatal(err)
			}
			return info.Bytes, m.HeapAlloc, len(open)
		}
		file, heap, files := run(5_000)
		file2, heap2, files2 := run(95_000)
		t.Logf("file %d then %d bytes, heap %d then %d bytes, %d then %d open files", file, file2, heap, heap2, files, files2)
		if file2 > file || heap2 > heap+1<<20 || files2 > files {
			t.Error("it grew")
		}
	})
}
