package recovery

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/streamingcontext"
)

// own is the other process: it runs batches 9 and 10 and then waits until its standard input ends.
func own(s site) int {
	p := newProgram(s)
	p.clock.Set(8000)
	ssc, err := p.start(context.Background())
	if err == nil {
		err = p.batches(context.Background(), ssc, 9, 10)
	}
	fmt.Println("ready", err)
	_, _ = io.Copy(io.Discard, os.Stdin) // the end is what counts
	return 0
}

// startOwner starts the other process and returns when it owns the site.
func startOwner(t *testing.T, s site) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-recovery.owner="+s.root)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // most often it has been
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd
}

// A second process on a folder is refused by the name of the first, also while that is stopped, and by another path of the
// folder; once it is killed the folder is free and nothing is lost.
func TestTwoProcesses_D9(t *testing.T) {
	want := undisturbed(t)
	s := site{t.TempDir()}
	if err := newProgram(s).run(t.Context(), 1, 8, streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	first := startOwner(t, s)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(s.root, link); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	try := func(when string, at site) {
		t.Helper()
		_, err := newProgram(at).start(t.Context())
		locked, ok := errors.AsType[*boltlog.LockedError](err)
		if !ok || locked.Holder.PID != first.Process.Pid || locked.Holder.Host != host || !strings.Contains(err.Error(), fmt.Sprint("process ", first.Process.Pid)) {
			t.Errorf("%s: %v", when, err)
		}
	}
	try("while the first runs", s)
	try("through a link", site{link})
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	try("while the first is stopped", s)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	if err := newProgram(s).run(t.Context(), 11, behind, streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if rows, err := s.shown(); err != nil || !cmp.Equal(rows, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(rows, want))
	}
}

// A program whose log was replaced under it ends, and what it does from then on does not count: another one goes on from what
// was decided before.
func TestALogReplacedUnderItsOwner_D9(t *testing.T) {
	want := undisturbed(t)
	s := site{t.TempDir()}
	p := newProgram(s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	old, err := p.start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.batches(ctx, old, 1, 9); err != nil {
		t.Fatal(err)
	}
	// Somebody moves the log away and puts a copy of it there, with its lock.
	for _, name := range []string{"driver.db", "driver.db.lock"} {
		path := filepath.Join(s.dir(), name)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Rename(path, path+".away")
		}
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	next := newProgram(s)
	next.clock.Set(9000)
	ssc, err := next.start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.clock.Set(10_000)
	if err := old.Await(ctx); err == nil || !strings.Contains(err.Error(), "driver.db") {
		t.Errorf("the old one ended with %v", err)
	}
	if err := next.batches(ctx, ssc, 10, behind); err != nil {
		t.Error(err)
	}
	for _, c := range []*streamingcontext.Context{old, ssc} {
		if err := c.Stop(ctx, streamingcontext.StopOptions{}); err != nil {
			t.Logf("stop: %v", err)
		}
	}
	if rows, err := s.shown(); err != nil || !cmp.Equal(rows, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(rows, want))
	}
}
