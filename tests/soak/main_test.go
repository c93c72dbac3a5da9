package main

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
