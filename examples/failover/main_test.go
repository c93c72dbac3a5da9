package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// The nodes are this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := runNode(ctx, os.Args[1:], os.Stdout)
		stop()
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
	out := exact(t, len(harms), "-mode", mixed)
	for _, mode := range slices.Sorted(maps.Keys(harms)) {
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
	for _, args := range []string{"-nodes 0", "-mode dance", "-batch 1ms", "-kills -1", "more", "-nodes 1 -mode pause", "-nodes 1 -mode mixed", "-at home", "-for -1s"} {
		if err := demonstrate(t.Context(), strings.Fields(args), new(bytes.Buffer)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
