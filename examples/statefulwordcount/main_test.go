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

func TestTotalsPrintTheSameBytesEveryTime(t *testing.T) {
	path := numbers(t, 1200)
	first := play(t, "-in", path, "-top", "3")
	if second := play(t, "-in", path, "-top", "3"); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	if want := "x\t1200\nw0\t120\nw1\t120\n"; !strings.HasSuffix(first, want) {
		t.Errorf("the end is not %q:\n%s", want, first)
	}
}
