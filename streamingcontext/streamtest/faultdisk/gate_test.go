package faultdisk

import (
	"context"
	"errors"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestGate(t *testing.T) {
	// passed starts a call and returns what it is answered with, when it is.
	passed := func(g *gate, call Calls, path string) <-chan syscall.Errno {
		done := make(chan syscall.Errno, 1)
		go func() { done <- g.pass(call, path) }()
		return done
	}
	in := func(name string, run func(t *testing.T, g *gate)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { run(t, newGate()) }) })
	}
	in("calls_hang_until_the_disk_is_mended", func(t *testing.T, g *gate) {
		g.set(Hung())
		var calls []<-chan syscall.Errno
		for _, call := range []Calls{Writes, Moves, Flushes} {
			calls = append(calls, passed(g, call, "a"))
		}
		time.Sleep(time.Hour)
		if _, c := g.now(); c != (Counts{Held: 3, Hung: 3}) {
			t.Errorf("counts %+v, want 3 held", c)
		}
		g.set(Fault{})
		for _, done := range calls {
			if errno := <-done; errno != 0 {
				t.Errorf("pass = %v after the disk was mended", errno)
			}
		}
		if _, c := g.now(); c != (Counts{Writes: 1, Moves: 1, Flushes: 1, Hung: 3}) {
			t.Errorf("counts %+v, want one of each", c)
		}
	})
	in("a_call_that_hung_meets_the_next_fault", func(t *testing.T, g *gate) {
		g.set(Hung())
		done := passed(g, Writes, "a")
		if err := g.awaitHeld(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.set(WriteErrors())
		if errno := <-done; errno != syscall.EIO {
			t.Errorf("pass = %v, want EIO", errno)
		}
	})
	in("calls_take_longer", func(t *testing.T, g *gate) {
		g.set(Slow(time.Second))
		before := time.Now()
		if errno := g.pass(Flushes, "a"); errno != 0 || time.Since(before) != time.Second {
			t.Errorf("pass = %v after %s, want 0 after 1s", errno, time.Since(before))
		}
		done := passed(g, Flushes, "a")
		synctest.Wait()
		g.set(Fault{}) // what is on its way is done
		if errno := <-done; errno != 0 || time.Since(before) != time.Second {
			t.Errorf("pass = %v after %s, want it at once when the disk is mended", errno, time.Since(before))
		}
	})
	in("other_calls_and_paths_do_not_meet_it", func(t *testing.T, g *gate) {
		g.set(Fault{Calls: Flushes, Under: "/a/b/", Err: syscall.EIO})
		for _, c := range []struct {
			call Calls
			path string
			want syscall.Errno
		}{
			{Flushes, "a/b", syscall.EIO}, {Flushes, "a/b/c", syscall.EIO}, {Flushes, "a/bc", 0}, {Flushes, "a", 0}, {Flushes, "", 0}, {Writes, "a/b", 0},
		} {
			if errno := g.pass(c.call, c.path); errno != c.want {
				t.Errorf("%s of %q = %v, want %v", c.call, c.path, errno, c.want)
			}
		}
	})
	in("a_disk_that_is_closed_answers_every_call_with_an_error", func(t *testing.T, g *gate) {
		g.set(Hung())
		done := passed(g, Writes, "a")
		if err := g.awaitHeld(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.close()
		if errno := <-done; errno != syscall.EIO {
			t.Errorf("pass = %v, want EIO", errno)
		}
		if errno := g.pass(Flushes, "a"); errno != syscall.EIO {
			t.Errorf("pass = %v, want EIO", errno)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.awaitHeld(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("awaitHeld = %v where nothing hangs", err)
		}
	})
}

func TestFaultsInWords(t *testing.T) {
	for want, f := range map[string]Fault{
		"none":                      {},
		"writes+moves+flushes hang": Hung(),
		"flushes under raft take 1s longer answer " + strconv.Quote(syscall.EIO.Error()): {Calls: Flushes, Under: "raft", Delay: time.Second, Err: syscall.EIO},
		"writes answer " + strconv.Quote(syscall.ENOSPC.Error()) + ", nothing is free":   Full(),
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
