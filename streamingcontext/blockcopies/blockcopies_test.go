package blockcopies_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// small makes segments of a few blocks.
func small(o *blockcopies.Options) { o.SegmentBytes = 1000 }

// What is acknowledged is on all drivers that can be reached, byte by byte.
func TestCopiesAreIdentical_R9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a := w.driver("a", small)
		w.driver("b")
		w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 40)
		synctest.Wait()
		w.wantSame("a", "b")
		w.wantSame("a", "c")
		if got := len(w.files("b")); got < 3 {
			t.Errorf("%d segments", got)
		}
		acked.within(t, found(t, log))
		s := a.Status()
		if s.Epoch != 5 || s.Promised != 5 || len(s.Drivers) != 2 || !s.Drivers[0].Connected || s.Drivers[1].Behind != 0 || s.Waiting != 0 || s.Err != nil {
			t.Errorf("status %+v", s)
		}
	})
}

// Without another driver the receiver waits, somebody is told, and it goes on when one is back. With Copies 1 it does not wait.
func TestNothingIsAcknowledgedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a := w.driver("a")
		w.driver("b")
		w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 1)
		w.cut("a", "b", "c")
		done := make(chan error, 1)
		var work sync.WaitGroup
		work.Go(func() {
			_, err := log.Append(t.Context(), 0, block(1), nil)
			done <- err
		})
		settle(time.Minute)
		select {
		case err := <-done:
			t.Fatalf("acknowledged alone, %v", err)
		default:
		}
		if s := a.Status(); s.Waiting != 1 || s.Drivers[0].Connected || s.Drivers[0].Err == nil {
			t.Errorf("status %+v", s)
		}
		if !w.saw("wait for copies") {
			t.Error("nobody was told")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := log.Append(ctx, 0, block(2), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("append until a deadline: %v", err)
		}
		w.heal()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !w.saw("have copies again") {
			t.Error("nobody was told of the end")
		}
		work.Wait()

		w.cut("a", "b", "c")
		work.Go(func() {
			_, err := log.Append(t.Context(), 0, block(3), nil)
			done <- err
		})
		synctest.Wait()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, blockcopies.ErrClosed) {
			t.Errorf("closed while it waits: %v", err)
		}
		work.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a := w.driver("a", func(o *blockcopies.Options) { o.Copies = 1 })
		kept{}.store(t, a.lead(1), 0, 3)
	})
}

// The leader's machine is gone with its disk. Whoever leads next has every acknowledged block once, also where it was cut off from the leader
// for a while, and so does who leads after that, when the second one is gone too.
func TestTheLeadersDiskIsLost_R9(t *testing.T) {
	for _, next := range []string{"b", "c"} {
		t.Run(next, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b", "c")
				drivers := map[string]*driver{}
				for _, name := range []string{"a", "b", "c"} {
					drivers[name] = w.driver(name, small)
				}
				acked, log := kept{}, drivers["a"].lead(5)
				acked.store(t, log, 0, 20)
				w.cut("a", "c")
				acked.store(t, log, 20, 50)
				drivers["a"].lose()
				log = drivers[next].lead(9)
				acked.within(t, found(t, log))
				w.wantSame("b", "c")
				acked.store(t, log, 50, 60)

				// A new machine takes the place of the lost one.
				w.heal()
				drivers["a"] = w.driver("a", small)
				settle(10 * time.Second)
				w.wantSame("a", next)
				drivers[next].lose()
				other := map[string]string{"b": "c", "c": "b"}[next]
				log = drivers[other].lead(12)
				acked.within(t, found(t, log))
			})
		})
	}
}

// A leader that was cut off, or slept, gets nothing acknowledged once another has looked, and removes nothing.
func TestAPausedLeaderIsFenced_D9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a, b, _ := w.driver("a", small), w.driver("b"), w.driver("c", small)
		acked, old := kept{}, a.lead(5)
		acked.store(t, old, 0, 30)
		w.cut("a", "b", "c")
		var work sync.WaitGroup
		work.Go(func() {
			var fenced *blockcopies.FencedError
			if at, err := old.Append(t.Context(), 0, block(100), nil); !errors.As(err, &fenced) || fenced.By != 9 {
				t.Errorf("append of an old leader: %v, %v", at, err)
			}
		})
		log := b.lead(9)
		acked.within(t, found(t, log))
		before := w.files("c")
		w.heal()
		settle(10 * time.Second)
		work.Wait()
		var fenced *blockcopies.FencedError
		if _, err := old.Append(t.Context(), 0, block(101), nil); !errors.As(err, &fenced) {
			t.Errorf("another append: %v", err)
		}
		if _, err := old.Clean(old.End()); !errors.As(err, &fenced) {
			t.Errorf("cleaning by an old leader: %v", err)
		}
		for name, data := range before {
			if w.files("c")[name] != data {
				t.Errorf("%s was changed", name)
			}
		}
		if s := a.Status(); s.Promised != 9 || !errors.As(s.Err, &fenced) {
			t.Errorf("status %+v", s)
		}
		if _, err := a.Lead(t.Context(), 11); !errors.Is(err, blockcopies.ErrLeads) {
			t.Errorf("lead again with the log open: %v", err)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
		if _, err := a.Lead(t.Context(), 8); !errors.As(err, &fenced) {
			t.Errorf("lead in an older epoch: %v", err)
		}
		acked.store(t, log, 30, 40)
		acked.within(t, found(t, a.lead(12)))
	})
}

// Whatever the moment at which another leads, whichever connections there are then, and whom it asks: what the old leader acknowledged, before and after, the
// new one finds.
func TestAcknowledgedIsFound_D9(t *testing.T) {
	after := 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 4))
			w := newWorld(t, "a", "b", "c")
			a, b, c := w.driver("a", small), w.driver("b"), w.driver("c")
			next, other := c, b
			if rnd.IntN(2) == 0 {
				next, other = b, c
			}
			old := a.lead(5)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var mu sync.Mutex
			var work sync.WaitGroup
			acked, moment, now := kept{}, 5+rnd.IntN(60), make(chan struct{})
			for stream := range 4 {
				work.Go(func() {
					for i := stream; i < 1000; i += 4 {
						at, err := old.Append(ctx, int32(stream), block(i), nil)
						if err != nil {
							return
						}
						mu.Lock()
						acked[string(block(i))] = at
						if len(acked) == moment {
							close(now)
						}
						mu.Unlock()
					}
				})
			}
			switch rnd.IntN(4) {
			case 0:
				w.cut(other.name, next.name) // it asks the old leader, who goes on with the other
			case 1:
				w.cut("a", other.name)
			case 2:
				w.cut("a", next.name)
			}
			<-now
			log := next.lead(9)
			mu.Lock()
			before := len(acked)
			mu.Unlock()
			all := found(t, log)
			settle(5 * time.Second)
			cancel()
			work.Wait()
			after += len(acked) - before
			acked.within(t, all)
			if len(acked) == 1000 {
				t.Error("the old leader was never stopped")
			}
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
	}
	t.Logf("%d were acknowledged while the new leader began", after)
}

// A leader waits until so many have answered that none can be missing what was acknowledged.
func TestLeadWaitsForEnoughDrivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a, _, c := w.driver("a"), w.driver("b"), w.driver("c")
		acked, log := kept{}, a.lead(5)
		w.cut("a", "c")
		acked.store(t, log, 0, 10)
		a.lose()
		w.cut("b", "c")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Lead(ctx, 9); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lead alone: %v", err)
		}
		if !w.saw("do not answer") {
			t.Error("nobody was told")
		}
		w.heal()
		acked.within(t, found(t, c.lead(10)))
	})
}

// A driver that was away gets what it missed, with its disk or without it.
func TestAHolderCatchesUp(t *testing.T) {
	for name, end := range map[string]func(*driver){"with_its_disk": (*driver).stop, "without": (*driver).lose} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b", "c")
				a, _, c := w.driver("a", small), w.driver("b"), w.driver("c")
				acked, log := kept{}, a.lead(5)
				acked.store(t, log, 0, 10)
				end(c)
				acked.store(t, log, 10, 40)
				w.driver("c")
				settle(10 * time.Second)
				w.wantSame("a", "c")
				acked.store(t, log, 40, 50)
				synctest.Wait()
				w.wantSame("a", "c")
			})
		})
	}
}

// A driver that takes another's place is given everything, and one that is no member counts for nothing.
func TestMembersChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a, b := w.driver("a", small), w.driver("b")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 20)
		w.driver("c")
		w.member("a", "c")
		settle(10 * time.Second)
		w.wantSame("a", "c")
		b.lose()
		acked.store(t, log, 20, 30)
		w.member("a")
		settle(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := log.Append(ctx, 0, block(30), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without other members: %v", err)
		}
	})
}

// lastSegment returns the file of a driver's newest log that is written last.
func (w *world) lastSegment(name string) string {
	w.t.Helper()
	var all []string
	for file := range w.files(name) {
		all = append(all, file)
	}
	if len(all) == 0 {
		w.t.Fatalf("%s has nothing", name)
	}
	return filepath.Join(w.dir(name), slices.Max(all))
}

// A crash of a holder leaves its last write in any state. What is whole before it counts, the leader sends the rest again, and nothing is taken for
// damage.
func TestTornTailOfAHolder_L2(t *testing.T) {
	tears := map[string]func(t *testing.T, path string){
		"cut_short": func(t *testing.T, path string) { tear(t, path, func(data []byte) []byte { return data[:len(data)-3] }) },
		"zeros": func(t *testing.T, path string) {
			tear(t, path, func(data []byte) []byte { return append(data, make([]byte, 5000)...) })
		},
		"flipped": func(t *testing.T, path string) {
			tear(t, path, func(data []byte) []byte { data[len(data)-5] ^= 1; return data })
		},
		"only_a_header": func(t *testing.T, path string) { tear(t, path, func(data []byte) []byte { return data[:10] }) },
	}
	for name, do := range tears {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b")
				a, b := w.driver("a"), w.driver("b")
				acked, log := kept{}, a.lead(5)
				acked.store(t, log, 0, 10)
				b.stop()
				do(t, w.lastSegment("b"))
				b = w.driver("b")
				acked.store(t, log, 10, 12)
				synctest.Wait()
				a.lose()
				acked.within(t, found(t, b.lead(9)))
			})
		})
	}
}

func tear(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Damage of one copy is noticed, and another one is used: when a driver begins to lead, and when a block is read.
func TestDamageOfACopy_C11(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b", "c")
			a, b, _ := w.driver("a"), w.driver("b"), w.driver("c")
			acked, log := kept{}, a.lead(5)
			acked.store(t, log, 0, 30)
			synctest.Wait()
			a.lose()
			b.stop()
			tear(t, w.lastSegment("b"), flip)
			b = w.driver("b")
			acked.within(t, found(t, b.lead(9)))
			w.wantSame("b", "c")
		})
	})
	t.Run("where_nobody_need_be_asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b")
			a, b := w.driver("a"), w.driver("b")
			acked, log := kept{}, a.lead(5)
			acked.store(t, log, 0, 30)
			b.stop()
			tear(t, w.lastSegment("b"), flip)
			b = w.driver("b")
			acked.within(t, found(t, b.lead(9)))
		})
	})
	t.Run("of_the_one_asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b", "c", "d")
			a, _, c, _ := w.driver("a"), w.driver("b"), w.driver("c"), w.driver("d")
			acked, log := kept{}, a.lead(5)
			acked.store(t, log, 0, 30)
			synctest.Wait()
			a.lose()
			tear(t, w.lastSegment("b"), flip) // while it is there, and thinks that it is whole
			c.lose()
			c = w.driver("c")
			acked.within(t, found(t, c.lead(9)))
		})
	})
	t.Run("while_leading", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b", "c")
			a, b, _ := w.driver("a"), w.driver("b"), w.driver("c")
			acked, log := kept{}, a.lead(5)
			acked.store(t, log, 0, 30)
			synctest.Wait()
			a.lose()
			log = b.lead(9)
			tear(t, w.lastSegment("b"), flip)
			for data, at := range acked {
				if got, err := log.Read(at); err != nil || string(got) != data {
					t.Errorf("%v: %.20q, %v", at, got, err)
				}
			}
			if !w.saw("a copy is looked for") {
				t.Error("nothing was damaged")
			}
			w.wantSame("b", "c")
		})
	})
	t.Run("everywhere", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "a", "b", "c")
			a, b, c := w.driver("a"), w.driver("b"), w.driver("c")
			acked, log := kept{}, a.lead(5)
			acked.store(t, log, 0, 30)
			synctest.Wait()
			a.lose()
			b.stop()
			c.stop()
			tear(t, w.lastSegment("b"), flip)
			tear(t, w.lastSegment("c"), flip)
			b, _ = w.driver("b"), w.driver("c")
			n := 0
			err := b.lead(9).Scan(t.Context(), func(streamingcontext.BlockEntry) error { n++; return nil })
			if err == nil || n < 20 || n >= 30 {
				t.Errorf("%d blocks, %v", n, err)
			}
		})
	})
}
