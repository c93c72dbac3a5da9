package objectlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

// quick is of a log that takes many snapshots.
var quick = objectlog.Options{SnapshotEvery: 7, Wait: time.Minute}

func TestAnyCallMayFailOnce(t *testing.T) {
	for _, fault := range []blobtest.Fault{blobtest.Fail, blobtest.Lost, blobtest.Dropped, blobtest.Late} {
		t.Run(fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for n := 1; ; n++ {
					m := blobtest.NewMemory()
					log := open(t, m, quick)
					at := m.Calls() + n
					var op blobtest.Op
					m.SetPlan(func(o blobtest.Op) blobtest.Fault {
						if o.N == at {
							op = o
							return fault
						}
						return blobtest.None
					})
					r := lead(t, log)
					r.batches(t, 12)
					if err := log.Close(); err != nil {
						t.Errorf("%v: Close: %v", op, err)
					}
					m.SetPlan(nil)
					m.Deliver()
					if got := batches(t, m); got != 12 {
						t.Errorf("%v: %d batches, want 12", op, got)
					}
					next := open(t, m, quick)
					if r := lead(t, next); r.next != 12 {
						t.Errorf("%v: next batch %d, want 12", op, r.next)
					}
					closeLog(t, next)
					if op.N == 0 {
						return // there is no such call
					}
				}
			})
		})
	}
}

func TestKilledBetweenAnyTwoCalls(t *testing.T) {
	for _, last := range []blobtest.Fault{blobtest.Dropped, blobtest.Lost, blobtest.Late} {
		t.Run(last.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for n := 1; ; n++ {
					m := blobtest.NewMemory()
					log := open(t, m, quick)
					at := m.Calls() + n
					m.SetPlan(func(o blobtest.Op) blobtest.Fault {
						switch {
						case o.N == at:
							return last
						case o.N > at:
							return blobtest.Dropped
						}
						return blobtest.None
					})
					answered, committed, ended := int64(0), int64(0), false
					term, err := log.Lead(t.Context())
					for id := int64(0); err == nil && id < 12; id++ {
						r := &runner{log: log, epoch: term.Epoch}
						if _, err = log.Propose(t.Context(), r.begin(id)); err != nil {
							break
						}
						answered = id + 1
						if _, err = log.Propose(t.Context(), r.prepared(id)); err != nil {
							break
						}
						committed = id // that of the batch before was durable with this
						_, err = log.Propose(t.Context(), r.committed(id))
					}
					if err != nil {
						ended = true
						var storage *objectlog.StorageError
						if !errors.As(err, &storage) || (!errors.Is(err, driverlog.ErrUnknown) && storage.Name != "driver/owner") {
							t.Errorf("call %d: %v, want ErrUnknown around a StorageError", n, err)
						}
						if _, again := log.Lead(t.Context()); !errors.As(again, &storage) {
							t.Errorf("Lead of a log that gave up = %v", again)
						}
					}
					log.Kill()
					m.SetPlan(nil)
					next := open(t, m, quick)
					state, err := next.State(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					a := state.App("app")
					if a.Next < answered || a.Next > answered+1 || a.Oldest() < committed {
						t.Errorf("call %d: next %d, oldest %d; want %d and %d", n, a.Next, a.Oldest(), answered, committed)
					}
					r := lead(t, next)
					m.Deliver() // what was on its way comes too late
					for id := a.Oldest(); id < a.Next; id++ {
						if _, err := next.ProposeAll(t.Context(), []driverlog.Command{r.prepared(id), r.committed(id)}); err != nil {
							t.Errorf("call %d: %v", n, err)
						}
					}
					r.batches(t, 10)
					closeLog(t, next)
					if got := batches(t, m); got != a.Next+10 {
						t.Errorf("call %d: %d batches, want %d", n, got, a.Next+10)
					}
					if !ended {
						return
					}
				}
			})
		})
	}
}

func TestAStoreThatIsAwayForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := blobtest.NewMemory()
		log := open(t, m, objectlog.Options{})
		r := lead(t, log)
		back := time.Now().Add(20 * time.Second)
		m.SetPlan(func(blobtest.Op) blobtest.Fault {
			if time.Now().Before(back) {
				return blobtest.Fail
			}
			return blobtest.None
		})
		r.batches(t, 3)
		if time.Now().Before(back) {
			t.Error("batches were answered while the store was away")
		}
		closeLog(t, log)
	})
	t.Run("for_too_long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := blobtest.NewMemory()
			log := open(t, m, objectlog.Options{Timeout: 3 * time.Second})
			r := lead(t, log)
			m.SetPlan(func(blobtest.Op) blobtest.Fault { return blobtest.Slow })
			read := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
				defer cancel()
				<-time.After(time.Second)
				_, err := log.State(ctx)
				read <- err
			}()
			if err := r.batch(); !errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("ProposeAll = %v, want ErrUnknown", err)
			}
			if err := <-read; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("State beside a write that takes long = %v", err)
			}
			if _, err := log.State(t.Context()); !errors.Is(err, driverlog.ErrUnknown) {
				t.Errorf("State = %v, want ErrUnknown", err)
			}
			closeLog(t, log)
		})
	})
}

func TestTooMuchTogetherIsRefused(t *testing.T) {
	log := open(t, blobtest.NewMemory(), objectlog.Options{})
	defer closeLog(t, log)
	r := lead(t, log)
	var cmds []driverlog.Command
	for id := range int64(driverlog.Window) {
		cmd := r.begin(id)
		cmd.Inputs = []driverlog.Input{{Data: make([]byte, driverlog.MaxPayload)}}
		cmds = append(cmds, cmd)
	}
	var limit *driverlog.LimitError
	if results, err := log.ProposeAll(t.Context(), cmds); !errors.As(err, &limit) || len(results) != 0 {
		t.Errorf("ProposeAll of 16 MiB = %d results, %v; want a LimitError", len(results), err)
	}
	if _, err := log.ProposeAll(t.Context(), cmds[:50]); err != nil {
		t.Error(err)
	}
}

func TestRacingDrivers(t *testing.T) {
	// Several drivers whose records lapse at once take the log from each other. Each batch must be begun by one.
	synctest.Test(t, func(t *testing.T) {
		m := blobtest.NewMemory()
		done := make(chan map[int64]string)
		for i := range 4 {
			go func() {
				node, mine := fmt.Sprintf("driver-%d", i), map[int64]string{}
				store := &silent{Store: m}
				log := open(t, store, objectlog.Options{Node: node, SnapshotEvery: 5, Lease: 50 * time.Millisecond, Wait: time.Hour})
				for len(mine) < 30 {
					store.quiet.Store(false)
					r := lead(t, log)
					store.quiet.Store(true)
					for n := 0; len(mine) < 30; n++ {
						id := r.next
						if err := r.batch(); err != nil {
							break
						}
						mine[id] = node
						<-time.After(time.Duration(1+(i*7+n*13)%17) * time.Millisecond)
					}
				}
				store.quiet.Store(false)
				closeLog(t, log)
				done <- mine
			}()
		}
		all := map[int64]string{}
		for range 4 {
			for id, node := range <-done {
				if other, twice := all[id]; twice {
					t.Errorf("batch %d was begun by %s and %s", id, other, node)
				}
				all[id] = node
			}
		}
		if got := batches(t, m); got != 120 || len(all) != 120 {
			t.Errorf("%d batches in the log, %d answered; want 120", got, len(all))
		}
	})
}
