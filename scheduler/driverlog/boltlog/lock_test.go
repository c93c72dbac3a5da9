package boltlog_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

var childLog = flag.String("child", "", "for TestChild only: the log that the child process owns")

// TestChild is the other process of the tests below: it runs batches until it is killed.
func TestChild(t *testing.T) {
	if *childLog == "" {
		return
	}
	log := open(t, *childLog, 7)
	r := lead(t, log)
	for {
		r.propose(t, r.begin(r.next))
		r.propose(t, r.prepared(r.next))
		r.propose(t, r.committed(r.next))
		fmt.Println("answered", r.next)
		r.next++
	}
}

// A child is a process that owns a log.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, path string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^TestChild$", "-child="+path)}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	return c
}

// answered returns the batch of the next line, -1 when there is none.
func (c *child) answered(t *testing.T) int64 {
	t.Helper()
	for c.lines.Scan() {
		var id int64
		if n, _ := fmt.Sscanf(c.lines.Text(), "answered %d", &id); n == 1 {
			return id
		}
		t.Logf("child: %s", c.lines.Text())
	}
	return -1
}

// kill kills the child and returns the last batch it was answered for.
func (c *child) kill(t *testing.T, last int64) int64 {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for id := c.answered(t); id >= 0; id = c.answered(t) {
		last = id
	}
	_ = c.cmd.Wait() // it was killed
	return last
}

func TestOneOwner(t *testing.T) {
	check := func(t *testing.T, path string, pid int) {
		t.Helper()
		start := time.Now()
		_, err := boltlog.Open(path, boltlog.Options{})
		var locked *boltlog.LockedError
		if !errors.As(err, &locked) || locked.Path != path {
			t.Fatalf("Open = %v, want a LockedError of %s", err, path)
		}
		host, _ := os.Hostname()
		h := locked.Holder
		if h.PID != pid || h.Host != host || h.Command != filepath.Base(os.Args[0]) || time.Since(h.Since) > time.Hour {
			t.Errorf("holder %+v, want process %d of %s on %s", h, pid, filepath.Base(os.Args[0]), host)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("process %d", pid)) {
			t.Errorf("error %q does not name process %d", err, pid)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("Open took %s to fail", d)
		}
	}
	t.Run("D9_a_second_process_is_refused_by_name_of_the_first", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		c := startChild(t, path)
		last := c.answered(t)
		check(t, path, c.cmd.Process.Pid)
		last = c.kill(t, last)
		log := open(t, path, 0)
		if next := lead(t, log).next; next <= last {
			t.Errorf("next batch is %d, %d was answered", next, last)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("D1_a_process_killed_at_any_time_loses_nothing_it_was_answered", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		next := int64(0)
		for i := range int64(10) {
			c := startChild(t, path)
			last := c.answered(t)
			for last < next+7*i%11 {
				last = c.answered(t)
			}
			last = c.kill(t, last)
			info, err := boltlog.Verify(path)
			if err != nil {
				t.Fatalf("Verify after kill %d: %v", i, err)
			}
			app := info.State.App("app")
			if app.Next <= last || app.Oldest() < last { // the last Committed may be undone
				t.Fatalf("kill %d: next %d, oldest %d; batch %d was answered", i, app.Next, app.Oldest(), last)
			}
			log := open(t, path, 7)
			r := lead(t, log)
			for _, b := range app.Open {
				r.propose(t, r.prepared(b.ID))
				r.propose(t, r.committed(b.ID))
			}
			next = app.Next
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("D9_a_second_owner_in_one_process_is_refused", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		log := open(t, path, 0)
		check(t, path, os.Getpid())
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the lock file stays and is in nobody's way
			log := open(t, path, 0)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("D9_another_name_of_the_file_does_not_help", func(t *testing.T) {
		dir := t.TempDir()
		path, alias := filepath.Join(dir, "driver.db"), filepath.Join(dir, "alias.db")
		log := open(t, path, 0)
		defer log.Close()
		if err := os.Symlink(path, alias); err != nil {
			t.Fatal(err)
		}
		_, err := boltlog.Open(alias, boltlog.Options{})
		var locked *boltlog.LockedError
		if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
			t.Errorf("Open = %v, want a LockedError", err)
		}
		if info, err := boltlog.Verify(alias); err != nil || info.State.Index != 0 {
			t.Errorf("Verify = %+v, %v; want an empty log", info, err)
		}
		lead(t, log).batches(t, 1)
		hard := filepath.Join(dir, "hard.db")
		if err := os.Link(path, hard); err != nil {
			t.Fatal(err)
		}
		if _, err := boltlog.Open(hard, boltlog.Options{}); !errors.As(err, &locked) || locked.Path != hard {
			t.Errorf("Open of another link = %v, want a LockedError", err)
		}
	})
	t.Run("a_lock_is_waited_for", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		log := open(t, path, 0)
		opened := make(chan error)
		go func() {
			second, err := boltlog.Open(path, boltlog.Options{LockTimeout: time.Minute})
			if err == nil {
				err = second.Close()
			}
			opened <- err
		}()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-opened; err != nil {
			t.Errorf("Open = %v, want it to wait", err)
		}
	})
}

func TestDump(t *testing.T) {
	path := filepath.Join(t.TempDir(), "driver.db")
	log := open(t, path, 10)
	r := lead(t, log)
	r.batches(t, 5) // 16 entries: a snapshot of 10, then 6
	t.Run("yields_the_entries_behind_the_snapshot_while_the_owner_runs", func(t *testing.T) {
		var kinds []string
		info, err := boltlog.Dump(path, func(e boltlog.Entry) error {
			kinds = append(kinds, fmt.Sprintf("%d %s %d", e.Index, e.Command.Kind, e.Command.Batch))
			return nil
		})
		want := "11 begin 3, 12 prepared 3, 13 committed 3, 14 begin 4, 15 prepared 4, 16 committed 4"
		if got := strings.Join(kinds, ", "); err != nil || got != want {
			t.Errorf("Dump yields %s, %v; want %s", got, err, want)
		}
		state, serr := log.State(t.Context())
		if serr != nil {
			t.Fatal(serr)
		}
		if info.Snapshot != 10 || info.Entries != 6 || info.State.Digest() != state.Digest() || len(info.ID) != 32 || info.Damaged != nil {
			t.Errorf("Dump = %+v, want the state of the log after a snapshot of 10 and 6 entries", info)
		}
		r.batches(t, 1)
	})
	t.Run("returns_the_error_of_the_caller", func(t *testing.T) {
		boom := errors.New("boom")
		if _, err := boltlog.Dump(path, func(boltlog.Entry) error { return boom }); !errors.Is(err, boom) {
			t.Errorf("Dump = %v, want %v", err, boom)
		}
	})
	t.Run("does_not_disturb_an_owner_that_writes", func(t *testing.T) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					r.batches(t, 1)
				}
			}
		}()
		for i := range 50 {
			var busy *boltlog.BusyError
			info, err := boltlog.Verify(path)
			if err != nil && !errors.As(err, &busy) {
				t.Errorf("Verify %d beside an owner: %v", i, err)
			}
			if err == nil && len(info.State.Apps[0].Open) != 0 {
				t.Errorf("Verify %d shows half of a transaction: %+v", i, info.State.Apps[0].Open)
			}
		}
		close(stop)
		<-stopped
	})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("a_missing_file_is_not_made", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none.db")
		if _, err := boltlog.Verify(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Verify = %v, want that it does not exist", err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Verify made the file: %v", err)
		}
	})
}
