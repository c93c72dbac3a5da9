package main

import (
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
)

func TestTotalsPrintTheSameBytesEveryTime(t *testing.T) {
	path := exampletest.Numbers(t, 1200)
	first := exampletest.Play(t, run, "", "-in", path, "-top", "3")
	if second := exampletest.Play(t, run, "", "-in", path, "-top", "3"); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	if want := "x\t1200\nw0\t120\nw1\t120\n"; !strings.HasSuffix(first, want) {
		t.Errorf("the end is not %q:\n%s", want, first)
	}
}
