package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
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

// Whatever is done to the driver that leads, another goes on with the same batch, and no word is lost or counted twice.
func TestTheAnswerIsExact(t *testing.T) {
	for _, mode := range []string{"kill", "pause", "partition", "transfer"} {
		t.Run(mode, func(t *testing.T) {
			var out bytes.Buffer
			if err := demonstrate(t.Context(), []string{"-mode", mode, "-kills", "2", "-lines", "2000", "-batch", "100ms"}, &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; !regexp.MustCompile(`^exact\ttrue\t2\t\d+\t\d+\t\d+$`).MatchString(last) {
				t.Errorf("the last line is %q", last)
			}
		})
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
	for _, args := range []string{"-nodes 0", "-mode dance", "-batch 1ms", "-kills -1", "more", "-nodes 1 -mode pause"} {
		if err := demonstrate(t.Context(), strings.Fields(args), new(bytes.Buffer)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
