//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program that is told to end by a signal ends in order, whenever that is: it says that all went well, and the next one goes on
// without a loss. The first signals come at once, the last one when rows are there.
func TestEndsInOrderWhenTold(t *testing.T) {
	f := newFolders(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM} {
		f.give(t, fmt.Sprintf("%d.txt", i), strings.Repeat("a b c\n", 100))
		want += 300
		out := new(bytes.Buffer)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, self, append([]string{asProgram}, f.args("-windows")...)...)
		cmd.Stdout, cmd.Stderr = out, out
		before := f.manifests(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		f.await(ctx, t, func() bool { return f.manifests(t) > before })
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || !strings.HasPrefix(out.String(), "total\t") {
			t.Fatalf("after %v: %v: %s", signal, err, out)
		}
		cancel()
	}
	var out bytes.Buffer
	if err := run(t.Context(), f.args("-windows", "-until-idle", "150ms"), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), fmt.Sprintf("total\t%d\t", want)) {
		t.Errorf("the last run prints %q, want a total of %d", &out, want)
	}
	words := 0
	for line := range strings.Lines(f.counts(t, "counts")) {
		var word string
		var n int
		if _, err := fmt.Sscan(line, &word, &n); err != nil {
			t.Fatal(err)
		}
		words += n
	}
	if words != want {
		t.Errorf("the sink shows %d words, want %d", words, want)
	}
}

// manifests returns how many files there are below the folder of counts.
func (f folders) manifests(t *testing.T) (n int) {
	t.Helper()
	err := filepath.WalkDir(f.out, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return nil // what is removed meanwhile does not count
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// await waits until done reports true; it looks again every ten milliseconds, since nobody tells.
func (f folders) await(ctx context.Context, t *testing.T, done func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("the program writes nothing")
		}
	}
}
