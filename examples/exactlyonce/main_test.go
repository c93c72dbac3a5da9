package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream/sink/files"
)

// asProgram, as the first argument, makes the test binary the program itself, which can be killed.
const asProgram = "as-the-program"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		os.Args = append(os.Args[:1], os.Args[2:]...)
		main()
		return
	}
	os.Exit(m.Run())
}

// folders are those of a program.
type folders struct{ in, out, checkpoint, ready string }

func newFolders(t *testing.T) folders {
	t.Helper()
	root := t.TempDir()
	f := folders{}
	for name, dir := range map[string]*string{"in": &f.in, "out": &f.out, "checkpoint": &f.checkpoint, "ready": &f.ready} {
		*dir = filepath.Join(root, name)
		if err := os.Mkdir(*dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// give makes a file appear.
func (f folders) give(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.ready, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.ready, name), filepath.Join(f.in, name)); err != nil {
		t.Fatal(err)
	}
}

func (f folders) args(more ...string) []string {
	return append([]string{"-in", f.in, "-out", f.out, "-checkpoint", f.checkpoint, "-batch", "50ms"}, more...)
}

// counts are the rows that the sink shows of an output, summed by word.
func (f folders) counts(t *testing.T, output string) string {
	t.Helper()
	var text strings.Builder
	for row, err := range files.Read(f.out, files.ReadOptions{Output: output}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", row.Line)
	}
	return text.String()
}

func TestRunsToTheEndAndGoesOn(t *testing.T) {
	f := newFolders(t)
	f.give(t, "1.txt", "a b a\n")
	var first, second, third bytes.Buffer
	if err := run(t.Context(), f.args("-until-idle", "150ms"), &first); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(first.String(), "total\t3\t") {
		t.Errorf("the first run prints %q", &first)
	}
	if err := run(t.Context(), f.args("-until-idle", "150ms"), &second); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(second.String(), "total\t3\t") {
		t.Errorf("the second run, without a new file, prints %q", &second)
	}
	f.give(t, "2.txt", "b c\n")
	if err := run(t.Context(), f.args("-until-idle", "150ms", "-isolate"), &third); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(third.String(), "total\t5\t") {
		t.Errorf("the third run prints %q", &third)
	}
	if got, want := f.counts(t, "counts"), "a\t2\nb\t1\nb\t1\nc\t1\n"; got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"-in", "x"}, {"-in", "x", "-out", "y"}, {"-batch", "no"}, {"-in", "x", "-out", "y", "-checkpoint", t.TempDir(), "-batch", "0s"}} {
		if err := run(t.Context(), args, new(bytes.Buffer)); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// Killed again and again, the program counts each word once.
func TestKilledAgainAndAgain(t *testing.T) {
	const kills = 12
	f := newFolders(t)
	rng := rand.New(rand.NewPCG(1, 2))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(more ...string) (*exec.Cmd, *bytes.Buffer) {
		out := new(bytes.Buffer)
		cmd := exec.CommandContext(t.Context(), self, append([]string{asProgram}, f.args(append(more, "-windows")...)...)...)
		cmd.Stdout, cmd.Stderr = out, out
		return cmd, out
	}
	want := map[string]int{}
	for i := range kills {
		var text strings.Builder
		for range 100 {
			w := fmt.Sprintf("w%d", rng.IntN(20))
			want[w]++
			fmt.Fprintf(&text, "%s ", w)
		}
		f.give(t, fmt.Sprintf("%d.txt", i), text.String())
		cmd, out := command()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The times are random on purpose; what comes out is not.
		kill := time.AfterFunc(time.Duration(rng.IntN(250))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err == nil || out.Len() > 0 {
			t.Fatalf("the program ended by itself: %v: %s", err, out)
		}
		kill.Stop()
	}
	cmd, out := command("-until-idle", "200ms")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.HasPrefix(out.String(), fmt.Sprintf("total\t%d\t", 100*kills)) {
		t.Errorf("the program prints %q, want a total of %d", out, 100*kills)
	}
	got := map[string]int{}
	for line := range strings.Lines(f.counts(t, "counts")) {
		var word string
		var n int
		if _, err := fmt.Sscan(line, &word, &n); err != nil {
			t.Fatal(err)
		}
		got[word] += n
	}
	for word, n := range want {
		if got[word] != n {
			t.Errorf("%s: %d, want %d", word, got[word], n)
		}
	}
	if report, err := files.Verify(f.out); err != nil || report.Err() != nil {
		t.Error(err, report.Err())
	}
}
