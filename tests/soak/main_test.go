package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A demonstration is played by this program again.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "play" {
		fmt.Print(os.Args[2])
		if strings.Contains(os.Args[2], "exact\tfalse") {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// A run of the size of a test: faults of every kind, and answers that are right.
func TestASmallRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-batches", "300", "-cycles", "20", "-every", "4", "-dir", t.TempDir()}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text := out.String()
	if strings.Count(text, " batches: heap ") != 10 || !strings.Contains(text, "20 starts and stops in ") {
		t.Errorf("printed:\n%s", text)
	}
	lines := strings.Split(text, "\n")
	for _, never := range []string{" 0 executors lost", " 0 blocks damaged", " 0 functions failed"} {
		if strings.Contains(lines[9], never) {
			t.Errorf("no such fault in the whole run: %s", lines[9])
		}
	}
}

// What is wrong must be noticed.
func TestBreaksAreNoticed(t *testing.T) {
	want := map[int]int{1: 2, 3: 4}
	for name, got := range map[string][]pair{
		"missing": {{Key: 1, Value: 2}}, "wrong": {{Key: 1, Value: 2}, {Key: 3, Value: 5}}, "twice": {{Key: 1, Value: 2}, {Key: 1, Value: 2}},
	} {
		if same("x", got, want) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := same("x", []pair{{Key: 3, Value: 4}, {Key: 1, Value: 2}}, want); err != nil {
		t.Error(err)
	}
	var seen []footprint
	for i := range 100 {
		seen = append(seen, footprint{heap: i << 20, goroutines: i, descriptors: i})
	}
	if err := flat(seen); err == nil || strings.Count(err.Error(), "grown") != 3 {
		t.Errorf("growth: %v", err)
	}
	if err := run(t.Context(), []string{"-batches", "-1"}, new(bytes.Buffer)); err == nil {
		t.Error("a negative number is taken")
	}
}

// measured returns what a demonstration of 80 s prints where a measure changes by so much each second, and all others stay.
func measured(name string, perSecond int64) string {
	text := &strings.Builder{}
	for at := int64(0); at <= 80; at += 4 {
		fmt.Fprintf(text, "kill %d: node 0\nsample\t%d", at, at)
		for _, l := range limited {
			value := int64(10_000)
			if l.name == name {
				value += at * perSecond
			}
			fmt.Fprintf(text, "\t%s=%d", l.name, value)
		}
		fmt.Fprintln(text)
	}
	return text.String()
}

// A run is judged by its measures: each that grows is named, one that is missing too, and an answer that is wrong is passed on.
func TestAClusterIsJudged(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	judge := func(text string) (string, error) {
		var out bytes.Buffer
		r := clusterRun{lasting: 80 * time.Second, seed: 7}
		err := r.judge(t.Context(), exec.CommandContext(t.Context(), self, "play", text), &out)
		return out.String(), err
	}
	out, err := judge(measured("", 0) + "exact\ttrue\n")
	if err != nil || strings.Count(out, "flat\t") != len(limited) || !strings.Contains(out, "kill 8: node 0\n") || !strings.Contains(out, "exact\ttrue\nseed 7, ") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, l := range limited {
		text := measured(l.name, 1000)
		if _, err := judge(text); err == nil || !strings.HasPrefix(err.Error(), l.name+" has grown from ") {
			t.Errorf("%s grows: %v", l.name, err)
		}
		if _, err := judge(strings.ReplaceAll(text, "\t"+l.name+"=", "\tother=")); err == nil || !strings.HasPrefix(err.Error(), l.name+" is not measured") {
			t.Errorf("%s is missing: %v", l.name, err)
		}
	}
	if _, err := judge("exact\tfalse\n"); err == nil || !strings.HasPrefix(err.Error(), "seed 7: the demonstration: exit status 1") {
		t.Errorf("a wrong answer: %v", err)
	}
	if out, err := judge("exact\ttrue\n"); err != nil || !strings.Contains(out, "too few to compare") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range []string{"-for -1s", "-for 1s -lines 0", "-for 1s -nodes 2"} {
		if run(t.Context(), strings.Fields(args), new(bytes.Buffer)) == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
