package executor

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/lineage"
)

func owner(i int) *lineage.ShuffleID {
	id := ofNode(lineage.NodeID{Ordinal: int32(i)})
	return &id
}

// TestPool plays random requests of tasks and blocks against the sums they should have.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 64).Draw(t, "total")
		p := newPool(total)
		stored := int64(0) // of blocks that can be evicted, in bytes of one byte each
		p.evict = func(need int64, _ *lineage.ShuffleID, all bool, _ *lineage.Metrics) int64 {
			if all && need > stored {
				return 0
			}
			n := min(need, stored)
			stored -= n
			return n
		}
		held := map[*share]int64{}
		var tasks []*share
		ended, cancel := context.WithCancel(t.Context())
		cancel() // so that nothing waits
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) { tasks = append(tasks, new(share)) },
			"reserve": func(t *rapid.T) {
				if len(tasks) == 0 {
					return
				}
				s, n := rapid.SampledFrom(tasks).Draw(t, "task"), rapid.Int64Range(0, total+1).Draw(t, "n")
				before := stored
				if p.reserve(ended, s, n, nil) {
					held[s] += n
					if n > 0 && held[s] > total/int64(len(p.shares)) {
						t.Fatalf("one of %d tasks holds %d of %d", len(p.shares), held[s], total)
					}
				}
				if before > stored && before <= total/2 {
					t.Fatalf("blocks were evicted for a task though they took %d of %d", before, total)
				}
			},
			"release": func(t *rapid.T) {
				if len(tasks) == 0 {
					return
				}
				s, n := rapid.SampledFrom(tasks).Draw(t, "task"), rapid.Int64Range(-1, total).Draw(t, "n")
				p.release(s, n)
				held[s] -= max(min(n, held[s]), 0)
			},
			"end": func(t *rapid.T) {
				if len(tasks) == 0 {
					return
				}
				i := rapid.IntRange(0, len(tasks)-1).Draw(t, "task")
				p.leave(tasks[i])
				delete(held, tasks[i])
				tasks = append(tasks[:i], tasks[i+1:]...)
			},
			"keep": func(t *rapid.T) {
				n, may := rapid.Int64Range(0, total+1).Draw(t, "n"), rapid.Bool().Draw(t, "may evict")
				reserved, before := p.reserved, stored
				if p.keep(n, owner(1), may, nil) {
					stored += n
				} else if before != stored {
					t.Fatal("something was evicted for nothing")
				}
				if reserved != p.reserved {
					t.Fatal("a block has pushed out a task")
				}
			},
			"forget": func(t *rapid.T) {
				n := rapid.Int64Range(0, stored).Draw(t, "n")
				stored -= n
				p.forget(n)
			},
			"": func(t *rapid.T) {
				sum := int64(0)
				for _, n := range held {
					sum += n
				}
				r, s := p.sums()
				if r != sum || s != stored || r+s > total {
					t.Fatalf("the pool has %d reserved and %d stored of %d, want %d and %d", r, s, total, sum, stored)
				}
			},
		})
	})
}

func TestPoolLimits(t *testing.T) {
	t.Run("S8_blocks_borrow_and_tasks_take_back_to_half", func(t *testing.T) {
		p := newPool(100)
		evicted := int64(0)
		p.evict = func(need int64, _ *lineage.ShuffleID, all bool, _ *lineage.Metrics) int64 {
			if all {
				return 0
			}
			evicted += need
			return need
		}
		if !p.keep(90, owner(1), true, nil) {
			t.Fatal("blocks may not borrow what no task uses")
		}
		s := new(share)
		if !p.reserve(t.Context(), s, 40, nil) || evicted != 30 {
			t.Errorf("%d bytes were evicted for the task, want 30", evicted)
		}
		if p.reserve(t.Context(), s, 20, nil) || evicted != 40 {
			t.Errorf("%d bytes were evicted, want no more than what is above half", evicted)
		}
		if p.keep(60, owner(1), true, nil) {
			t.Error("a block got memory that a task holds")
		}
	})
	t.Run("without_limit", func(t *testing.T) {
		p := newPool(0)
		for range 10 {
			if s := new(share); !p.reserve(t.Context(), s, unlimited/32, nil) {
				t.Error("refused")
			}
		}
		if !p.keep(1<<50, owner(1), true, nil) {
			t.Error("refused")
		}
	})
	t.Run("more_than_there_is_overflows_nothing", func(t *testing.T) {
		p := newPool(100)
		for _, n := range []int64{101, 1<<63 - 1} {
			if p.reserve(t.Context(), new(share), n, nil) || p.keep(n, owner(1), true, nil) {
				t.Errorf("%d of 100 bytes were given", n)
			}
		}
	})
}

func TestPoolWaiting(t *testing.T) {
	// Each case begins with one task that has all 100 bytes.
	run := func(name string, f func(t *testing.T, p *pool, first *share)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, first := newPool(100), new(share)
				if !p.reserve(t.Context(), first, 100, nil) {
					t.Fatal("the only task was refused")
				}
				f(t, p, first)
				p.leave(first)
				if r, s := p.sums(); r != 0 || s != 0 || p.demand != 0 || len(p.shares) != 0 {
					t.Errorf("%d reserved, %d stored, %d waited for, %d shares are left", r, s, p.demand, len(p.shares))
				}
			})
		})
	}
	run("a_task_below_its_minimum_waits", func(t *testing.T, p *pool, first *share) {
		var wg sync.WaitGroup
		second := new(share)
		wg.Go(func() {
			if !p.reserve(t.Context(), second, 25, nil) {
				t.Error("refused")
			}
		})
		synctest.Wait()
		if second.held != 0 || p.reserve(t.Context(), first, 1, nil) {
			t.Error("the first task still gets more")
		}
		p.release(first, 24)
		synctest.Wait()
		if second.held != 0 {
			t.Error("24 bytes were enough for 25")
		}
		p.release(first, 1)
		wg.Wait()
		p.leave(second)
	})
	run("blocks_above_half_come_after_it", func(t *testing.T, p *pool, first *share) {
		p.release(first, 50)
		if !p.keep(50, owner(1), true, nil) {
			t.Fatal("no room for a block")
		}
		var wg sync.WaitGroup
		second := new(share)
		wg.Go(func() {
			if !p.reserve(t.Context(), second, 20, nil) {
				t.Error("refused")
			}
		})
		synctest.Wait()
		p.release(first, 10)
		if p.keep(5, owner(1), true, nil) {
			t.Error("a block took what a task waits for")
		}
		p.release(first, 10)
		wg.Wait()
		p.leave(second)
		p.forget(50)
	})
	run("a_larger_request_does_not_wait", func(t *testing.T, p *pool, first *share) {
		second := new(share)
		if p.reserve(t.Context(), second, 26, nil) {
			t.Error("given")
		}
		p.leave(second)
	})
	run("a_task_that_ends_is_enough", func(t *testing.T, p *pool, first *share) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s := new(share)
				if !p.reserve(t.Context(), s, 10, nil) {
					t.Error("refused")
				}
				p.leave(s)
			})
		}
		synctest.Wait()
		p.leave(first)
		wg.Wait()
	})
	run("the_context_ends_it", func(t *testing.T, p *pool, first *share) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		second := new(share)
		wg.Go(func() {
			if p.reserve(ctx, second, 10, nil) {
				t.Error("given")
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		p.leave(second)
	})
	run("those_who_all_wait_are_refused", func(t *testing.T, p *pool, first *share) {
		// What first holds does not come back while it waits for the second.
		var wg sync.WaitGroup
		second := new(share)
		answered := make(chan bool, 1)
		wg.Go(func() { answered <- p.reserve(t.Context(), second, 10, nil) })
		synctest.Wait()
		resume := p.pause(first)
		synctest.Wait()
		if len(answered) != 1 || <-answered {
			t.Error("the second task waits for one that waits for it, or was given what is not there")
		}
		resume()
		wg.Wait()
		p.leave(second)
	})
	run("minimums_shrink_as_tasks_come", func(t *testing.T, p *pool, first *share) {
		var wg sync.WaitGroup
		second, third := new(share), new(share)
		answered := make(chan bool, 1)
		wg.Go(func() { answered <- p.reserve(t.Context(), second, 25, nil) })
		synctest.Wait()
		if p.reserve(t.Context(), third, 20, nil) { // 100/6 is less
			t.Error("given")
		}
		synctest.Wait()
		if len(answered) != 1 || <-answered {
			t.Error("a task waits for more than its minimum is now")
		}
		wg.Wait()
		p.leave(second)
		p.leave(third)
	})
}

// TestPoolNeverStops lets tasks that hold, wait and spill run against each other: all of them end.
func TestPoolNeverStops(t *testing.T) {
	for _, total := range []int64{1, 7, 100} {
		for tasks := 1; tasks <= 6; tasks++ {
			t.Run(fmt.Sprintf("total=%d/tasks=%d", total, tasks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPool(total)
					var wg sync.WaitGroup
					for i := range tasks {
						wg.Go(func() {
							s := new(share)
							defer p.leave(s)
							for k := range 200 {
								if !p.reserve(t.Context(), s, int64(1+(i+k)%5), nil) {
									p.release(s, s.held)
								}
								if k%7 == i {
									p.keep(int64(k%3), owner(i), true, nil)
								}
							}
						})
					}
					wg.Wait() // synctest reports a deadlock
					if r, _ := p.sums(); r != 0 {
						t.Errorf("%d bytes leaked", r)
					}
				})
			})
		}
	}
}
