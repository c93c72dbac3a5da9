package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/streamingcontext"
)

// play runs the example inside a bubble, where time passes only while all wait: the same input
// gives the same bytes.
func play(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		if err := run(context.Background(), args, strings.NewReader(""), &out, streamingcontext.SystemClock{}); err != nil {
			t.Fatal(err)
		}
	})
	return out.String()
}

// numbers writes n lines "wK x", K counting.
func numbers(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "w%d x\n", i%10)
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWindowsPrintTheSameBytesEveryTime(t *testing.T) {
	path := numbers(t, 4500) // 45 batches of about 100 lines
	args := []string{"-in", path, "-window", "10s", "-slide", "5s", "-top", "2"}
	first := play(t, args...)
	if second := play(t, args...); first != second {
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
