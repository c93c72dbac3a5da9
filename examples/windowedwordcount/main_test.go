package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
)

func TestWindowsPrintTheSameBytesEveryTime(t *testing.T) {
	path := exampletest.Numbers(t, 4500) // 45 batches of about 100 lines
	args := []string{"-in", path, "-window", "10s", "-slide", "5s", "-top", "2"}
	first := exampletest.Play(t, run, "", args...)
	if second := exampletest.Play(t, run, "", args...); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	lines := strings.Split(strings.TrimSpace(first), "\n")
	if len(lines) < 9 {
		t.Fatalf("%d windows:\n%s", len(lines), first)
	}
	seen := 0
	for _, l := range lines {
		var n int
		if _, err := fmt.Sscanf(l[strings.LastIndex(l, "last 10s:"):], "last 10s: x:%d", &n); err == nil && n >= 980 && n <= 1020 {
			seen++
		}
	}
	if seen < 6 {
		t.Errorf("%d full windows of about 1000 lines:\n%s", seen, first)
	}
}
