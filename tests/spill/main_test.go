package main

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// childArgs is set in a process that a test has started to be killed.
const childArgs = "SPILL_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childArgs) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestJobsSpillAndAreRight(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-bytes", "12MiB", "-memory", "1MiB", "-partitions", "4", "-dir", t.TempDir()}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
	if len(lines) != len(jobs) {
		t.Fatalf("%d lines for %d jobs:\n%s", len(lines), len(jobs), &out)
	}
	for _, line := range lines {
		f := strings.Split(line, "\t")
		if spilled, err := strconv.Atoi(f[5]); err != nil || spilled == 0 || f[2] != "yes" || f[6] != "0" {
			t.Errorf("nothing was spilled, a wrong answer, or files left: %s", line)
		}
	}
}

func TestFilesOfAKilledProcessGo(t *testing.T) {
	t.Setenv(childArgs, "1")
	var out bytes.Buffer
	err := run(t.Context(), []string{"-bytes", "12MiB", "-memory", "1MiB", "-partitions", "4", "-only", "sort", "-kill", "-dir", t.TempDir()}, &out)
	if err != nil || !strings.HasPrefix(out.String(), "killed a process that left ") {
		t.Fatalf("%v\n%s", err, &out)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-bytes", "8"}, {"-memory", "0MiB"}, {"-only", "sort,walk"}, {"-no"}} {
		if err := run(context.Background(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
