package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

// The nodes are this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		// Not given back before the end: a signal that comes while the process exits must not look like a bad end.
		ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := runNode(ctx, os.Args[1:], os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// exact runs the demonstration and wants the answer to be exact after so many faults.
func exact(t *testing.T, faults int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	args = append([]string{"-kills", strconv.Itoa(faults), "-lines", "2000", "-batch", "100ms"}, args...)
	if err := demonstrate(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := fmt.Sprintf(`^exact\ttrue\t%d\t\d+\t\d+\t\d+$`, faults)
	if last := lines[len(lines)-1]; !regexp.MustCompile(want).MatchString(last) {
		t.Errorf("the last line is %q", last)
	}
	return out.String()
}

// Whatever is done to the driver that leads, another goes on with the same batch, and no word is lost or counted twice.
func TestTheAnswerIsExact(t *testing.T) {
	t.Parallel()
	all := slices.Collect(maps.Keys(harms))
	if err := faultdisk.Available(); err == nil {
		all = slices.AppendSeq(all, maps.Keys(badDisks))
	} else {
		t.Log("without bad disks:", err)
	}
	slices.Sort(all)
	out := exact(t, len(all), "-mode", mixed, "-stall", "5s")
	for _, mode := range all {
		if !regexp.MustCompile("(?m)^" + mode + ` \d+: node`).MatchString(out) {
			t.Errorf("no %s in\n%s", mode, out)
		}
	}
	if n := strings.Count(out, "is refused on node"); n != 1 {
		t.Errorf("a build that cannot go on was refused %d times in\n%s", n, out)
	}
}

// A leader that is stopped in the middle of a commit, and wakes when others have gone on, changes nothing.
func TestALeaderWakesInTheMiddleOfACommit(t *testing.T) {
	t.Parallel()
	out := exact(t, 1, "-mode", "pause", "-at", "rollforward", "-for", "1s")
	if n := strings.Count(out, " in the commit of batch "); n != 1 {
		t.Errorf("%d leaders were stopped in a commit\n%s", n, out)
	}
}

// The only node comes back. It counts at half the rate that it is found to be able to.
func TestOneNodeComesBack(t *testing.T) {
	t.Parallel()
	out := exact(t, 2, "-nodes", "1", "-mode", "kill", "-lines", "0")
	if !regexp.MustCompile(`^1 nodes, [1-9]\d+ lines a second`).MatchString(out) {
		t.Errorf("no rate in\n%s", out)
	}
}

func TestTheClusterGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	out := exact(t, 1, "-grow")
	for _, want := range []string{"node 2 has joined, 3 nodes", "has left, 1 nodes"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A node is hurt at random while all that was committed is compared, and what nodes use is printed.
func TestItLasts(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := demonstrate(t.Context(), []string{"-lasting", "2s", "-sample", "1s", "-lines", "2000", "-batch", "100ms"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if !regexp.MustCompile(`(?m)^sample\t\d+\tbatches=[1-9](.*\n)+exact\ttrue\t[1-9]`).Match(out.Bytes()) {
		t.Errorf("got\n%s", &out)
	}
}

// A word that is not in the text ends a run while it goes on, and all is kept for who looks for the reason.
func TestADifferenceEndsARunThatLasts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := &intruder{name: filepath.Join(dir, "in", "other.txt")}
	err := demonstrate(t.Context(), []string{"-lasting", "1m", "-sample", "1s", "-lines", "2000", "-batch", "100ms", "-seed", "5", "-dir", dir}, out)
	if err == nil || !strings.Contains(err.Error(), "hold no whole files") || !strings.Contains(out.String(), "\nseed 5; what each node said") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"node-0.log", "node-1.decisions", "out"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An intruder puts a file among those of the text when it is told of the first measures.
type intruder struct {
	bytes.Buffer
	name string
}

func (i *intruder) Write(line []byte) (int, error) {
	if i.name != "" && bytes.HasPrefix(line, []byte("sample\t")) {
		if err := os.WriteFile(i.name, []byte("word0\n"), 0o600); err != nil {
			return 0, err
		}
		i.name = ""
	}
	return i.Buffer.Write(line)
}

// A group without an application is killed for comparison.
func TestItIsComparedWithABareGroup(t *testing.T) {
	t.Parallel()
	out := exact(t, 1, "-bare", "-nodes", "2", "-mode", "transfer")
	if !regexp.MustCompile(`(?m)^bare\t1\t\d+\t\d+\t\d+\t\d+\n2 nodes, \d+ lines a second`).MatchString(out) {
		t.Errorf("got\n%s", out)
	}
}

// What the sink shows is compared, not taken on trust.
func TestADifferenceIsFound(t *testing.T) {
	if err := compare("sum", map[string]int64{"a": 2}, map[string]int64{"a": 1}); err == nil || err.Error() != "sum: a has 2, the text 1" {
		t.Errorf("compare = %v", err)
	}
	if err := compare("sum", map[string]int64{"a": 1, "b": 1}, map[string]int64{"a": 1}); err == nil {
		t.Error("a word too many is not found")
	}
}

func TestBadLines(t *testing.T) {
	for _, args := range []string{"-nodes 0", "-mode dance", "-batch 1ms", "-kills -1", "more", "-nodes 1 -mode pause", "-nodes 1 -mode mixed", "-lasting -1s", "-lasting 1s -nodes 1", "-lasting 1s -grow", "-lasting 1s -sample 1ms", "-at home", "-for -1s"} {
		if err := demonstrate(t.Context(), strings.Fields(args), new(bytes.Buffer)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
