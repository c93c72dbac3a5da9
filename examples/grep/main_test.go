package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
	"github.com/leat-io/leat/streamingcontext"
)

func TestStreamPrintsMatchesInOrder(t *testing.T) {
	path := exampletest.Numbers(t, 120)
	first := exampletest.Play(t, run, "", "-in", path, "w3 ")
	if second := exampletest.Play(t, run, "", "-in", path, "w3 "); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	if want := strings.Repeat("w3 x\n", 12) + "12\n"; first != want {
		t.Errorf("got %q, want %q", first, want)
	}
}

func TestOnce(t *testing.T) {
	path := exampletest.Numbers(t, 40)
	if got, want := exampletest.Play(t, run, "", "-in", path, "-once", "w[12] "), strings.Repeat("w1 x\nw2 x\n", 4); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := exampletest.Play(t, run, "", "-in", path, "-once", "-count", "x"), "40\n"; got != want {
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
