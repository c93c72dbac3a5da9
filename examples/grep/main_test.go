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

func TestStreamPrintsMatchesInOrder(t *testing.T) {
	path := numbers(t, 120)
	first := play(t, "-in", path, "w3 ")
	if second := play(t, "-in", path, "w3 "); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	if want := strings.Repeat("w3 x\n", 12) + "12\n"; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
}

func TestOnce(t *testing.T) {
	path := numbers(t, 40)
	if got, want := play(t, "-in", path, "-once", "w[12] "), strings.Repeat("w1 x\nw2 x\n", 4); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := play(t, "-in", path, "-once", "-count", "x"), "40\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadPattern(t *testing.T) {
	for _, args := range [][]string{{"("}, {}, {"a", "b"}} {
		if err := run(t.Context(), args, nil, &bytes.Buffer{}, streamingcontext.SystemClock{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
