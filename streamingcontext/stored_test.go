package streamingcontext_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/streamingcontext"
)

// rowsSeen is what outputs saw, a digest for each output and batch, whichever process ran it.
type rowsSeen struct {
	mu      sync.Mutex
	rows    map[string]string
	differs []string
}

func (r *rowsSeen) add(name string, at dstream.Time, rows []string) {
	slices.Sort(rows)
	key := fmt.Sprint(name, " ", int64(at)/1000)
	digest := fmt.Sprintf("%d %x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = map[string]string{}
	}
	if before, again := r.rows[key]; again && before != digest {
		r.differs = append(r.differs, key)
	}
	r.rows[key] = digest
}

// want compares what was seen with what an undisturbed program saw.
func (r *rowsSeen) want(t *testing.T, want *rowsSeen) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.differs) > 0 {
		t.Errorf("run again, these differ: %q", r.differs)
	}
	if diff := cmp.Diff(want.rows, r.rows); diff != "" {
		t.Errorf("rows (-undisturbed +got):\n%s", diff)
	}
}

func rowsOf[T any](to *rowsSeen, name string, s *dstream.DStream[T]) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], at dstream.Time) error {
		rows, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		text := make([]string, len(rows))
		for i, row := range rows {
			text[i] = fmt.Sprint(row)
		}
		to.add(name, at, text)
		return nil
	})
}

// allState is a program with a running total, an inverse window and mapWithState, of so many keys, a few of which change in each batch.
func allState(out *rowsSeen, keys int64) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		in := dstream.NewInput(ssc.Graph(), "eternal", "Eternal", dstream.Input[rdd.Pair[int64, int64]](eternal[rdd.Pair[int64, int64]]{rows: func(batch int64) []rdd.Pair[int64, int64] {
			from, to := 7*batch, 7*batch+12
			if batch == 1 {
				from, to = 0, keys
			}
			var rows []rdd.Pair[int64, int64]
			for k := from; k < to; k++ {
				rows = append(rows, rdd.Pair[int64, int64]{Key: k % keys, Value: batch})
			}
			return rows
		}}))
		totals := dstream.UpdateStateByKey(in, total, dstream.TouchedOnly())
		rowsOf(out, "totals", totals)
		plus, minus := func(a, b int64) int64 { return a + b }, func(a, b int64) int64 { return a - b }
		window := dstream.ReduceByKeyAndWindow(in, plus, minus, 3*time.Second, time.Second)
		rowsOf(out, "window", window)
		mapped := dstream.MapWithState(in, dstream.NewStateSpec(func(k int64, v rdd.Option[int64], s *dstream.State[int64]) rdd.Pair[int64, int64] {
			sum := s.Option().Value + v.Value
			_ = s.Update(sum) // no timeout
			return rdd.Pair[int64, int64]{Key: k, Value: sum}
		}))
		rowsOf(out, "mapped", mapped.StateSnapshots())
		return errors.Join(totals.Checkpoint(2*time.Second), window.Checkpoint(2*time.Second), mapped.Checkpoint(2*time.Second))
	}
}

// throughout returns what the program sees that runs through, with its checkpoints in a folder.
func throughout(t *testing.T, keys int64, batches int) *rowsSeen {
	want := new(rowsSeen)
	s := survive(t, allState(want, keys))
	s.start()
	s.advance(batches)
	s.stop()
	return want
}

// onStore makes a program whose checkpoints are in a store.
func onStore(t *testing.T, out *rowsSeen, keys int64, store blobstore.Store, log driverlog.Log) *survivor {
	s := survive(t, allState(out, keys))
	s.dir = ""
	s.configure = func(o *streamingcontext.Options) {
		o.Store, o.Log, o.RepeatLast = store, log, false
	}
	return s
}

func objectLog(t *testing.T, store blobstore.Store, node string, wait time.Duration) *objectlog.Log {
	t.Helper()
	log, err := objectlog.Open(t.Context(), store, objectlog.Options{Node: node, Lease: 100 * time.Millisecond, Wait: wait, SnapshotEvery: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // again
	return log
}

// wantWhole checks that all that is needed is in a store, and not much else.
func wantWhole(t *testing.T, store blobstore.Store, log driverlog.Log) streamingcontext.CheckpointReport {
	t.Helper()
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := streamingcontext.VerifyStored(t.Context(), store, state)
	if err != nil {
		t.Error(err)
	}
	folders := map[string]bool{}
	files := 0
	for info, err := range blobstore.All(t.Context(), store, "", "") {
		switch {
		case err != nil:
			t.Fatal(err)
		case strings.HasPrefix(info.Name, "state/"):
			folders[strings.Split(info.Name, "/")[1]] = true
		case strings.HasPrefix(info.Name, "checkpoints/"):
			files++
		}
	}
	if len(folders) > report.Folders+9 || files > 4 {
		t.Errorf("%d folders, %d are needed; %d files of checkpoints", len(folders), report.Folders, files)
	}
	return report
}

// A program whose checkpoints are in a store goes on there after it was killed, with the rows that it would have had.
func TestCheckpointsInAStore(t *testing.T) {
	const keys, batches = 3000, 24
	want := throughout(t, keys, batches)
	t.Run("in_memory", func(t *testing.T) {
		store, log, out := blobtest.NewMemory(), newLog(t), new(rowsSeen)
		store.SetPage(5)
		s := onStore(t, out, keys, store, log)
		for range 3 {
			s.start()
			s.advance(batches / 3)
			s.stop()
		}
		out.want(t, want)
		if report := wantWhole(t, store, log); report.Folders < 6 {
			t.Errorf("%v: there are no chains", report)
		}
	})
	t.Run("with_a_driver_log_in_the_store", func(t *testing.T) {
		store, out := blobtest.NewMemory(), new(rowsSeen)
		clock := new(streamingcontext.ManualClock)
		for range 3 {
			log := objectLog(t, store, "driver", time.Minute)
			s := onStore(t, out, keys, store, log)
			s.clock = clock
			s.start()
			s.advance(batches / 3)
			killed := store.Copy() // as after the end of the process at this very instruction
			wantWhole(t, store, log)
			s.stop()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
			store = killed
		}
		out.want(t, want)
	})
	t.Run("S3", func(t *testing.T) {
		_, opts := s3test.Start(t)
		store, err := s3store.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		out := new(rowsSeen)
		clock := new(streamingcontext.ManualClock)
		for range 2 {
			log := objectLog(t, store, "driver", time.Minute)
			s := onStore(t, out, keys, store, log)
			s.clock = clock
			s.start()
			s.advance(batches / 2)
			wantWhole(t, store, log)
			s.stop()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
		out.want(t, want)
	})
}

// Whatever becomes of a call of the store, at once or from it on, the program goes on or ends, and the next one has the same rows.
func TestCheckpointsInAStoreThatFails(t *testing.T) {
	const keys, batches = 40, 7
	want := throughout(t, keys, batches)
	for name, plan := range map[string]func(n, at int) blobtest.Fault{
		"dead_from_a_call_on": func(n, at int) blobtest.Fault {
			if n >= at {
				return blobtest.Fail
			}
			return blobtest.None
		},
		"as_it_seems_dead_from_a_call_on": func(n, at int) blobtest.Fault {
			if n == at {
				return blobtest.Lost
			} else if n > at {
				return blobtest.Fail
			}
			return blobtest.None
		},
		"three_calls_fail_as_it_seems": func(n, at int) blobtest.Fault {
			if n >= at && n < at+3 {
				return blobtest.Lost
			}
			return blobtest.None
		},
		"ten_calls_fail": func(n, at int) blobtest.Fault {
			if n >= at && n < at+10 {
				return blobtest.Fail
			}
			return blobtest.None
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := 0
			for at := 1; ; at++ {
				store, log, out := blobtest.NewMemory(), newLog(t), new(rowsSeen)
				store.SetPlan(func(op blobtest.Op) blobtest.Fault { return plan(op.N, at) })
				s := onStore(t, out, keys, store, log)
				failed := s.try()
				for i := 0; i < batches && failed == nil; i++ {
					s.clock.Advance(1000)
					failed = s.ssc.Settled(t.Context(), dstream.Time(s.clock.Now()))
				}
				if s.ssc != nil {
					s.ssc.Stop(t.Context(), streamingcontext.StopOptions{})
				}
				calls := store.Calls()
				store.SetPlan(nil)
				if failed != nil {
					ended++
				}
				s.start()
				if left := 1000*batches - s.clock.Now(); left > 0 {
					s.clock.Advance(left)
				}
				s.settled()
				s.stop()
				out.want(t, want)
				wantWhole(t, store, log)
				if t.Failed() {
					t.Fatalf("from call %d on, which ended with %v", at, failed)
				}
				if at > calls {
					break
				}
			}
			if ended == 0 {
				t.Error("no program ended")
			}
		})
	}
}

func TestDamagedBlobsAreNamed_D4(t *testing.T) {
	store, log, out := blobtest.NewMemory(), newLog(t), new(rowsSeen)
	s := onStore(t, out, 300, store, log)
	s.start()
	s.advance(9)
	s.stop()
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range store.Names() {
		for _, what := range []string{"cut off", "flipped", "removed"} {
			damaged := store.Copy()
			data, _, err := damaged.Read(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			switch what {
			case "cut off":
				data = data[:len(data)-1]
			case "flipped":
				data[len(data)/2] ^= 4
			}
			if what == "removed" {
				err = damaged.Remove(t.Context(), name)
			} else {
				err = damaged.Put(t.Context(), name, func(w io.Writer) error {
					_, err := w.Write(data)
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = streamingcontext.VerifyStored(t.Context(), damaged, state)
			if err == nil {
				continue // superfluous
			}
			tried++
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: %v", name, what, err)
			}
			if part := strings.Contains(name, "/part-"); what == "flipped" && part {
				continue // a batch meets it
			}
			refused := onStore(t, new(rowsSeen), 300, damaged, log)
			refused.clock = s.clock
			if err := refused.try(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: the next program: %v", name, what, err)
			}
		}
	}
	if tried < 15 {
		t.Errorf("%d tries", tried)
	}
}

func TestAStoreNeedsALogAndAFolderForReceivers(t *testing.T) {
	store := blobtest.NewMemory()
	opts := streamingcontext.Options{Interval: time.Second, Store: store}
	if err := opts.Validate(); err == nil || !strings.Contains(err.Error(), "Log") {
		t.Errorf("Validate = %v", err)
	}
	declare := func(ssc *streamingcontext.Context) error {
		discard(streamingcontext.Receive(ssc, idle()))
		return nil
	}
	s := survive(t, declare)
	dir := s.dir
	s.configure = func(o *streamingcontext.Options) { o.Store, o.Log = store, newLog(t) }
	s.dir = ""
	if err := s.try(); !errors.Is(err, streamingcontext.ErrNoFolder) {
		t.Errorf("without a folder: %v", err)
	}
	s.dir = dir
	s.start()
}
