package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
	"github.com/leat-io/leat/streamingcontext"
)

func TestOnce(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "b a\nb")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, file, data, want string
	}{
		{"ties are sorted by word", "in", "b a\nc b\n", "b\t2\na\t1\nc\t1\n"},
		{"empty file", "in", "", ""},
		{"no last newline", "in", "a a", "a\t2\n"},
		{"crlf", "in", "a\r\nb\r\na\r\n", "a\t2\nb\t1\n"},
		{"invalid utf-8 is kept", "in", "\xff \xff x", "\xff\t2\nx\t1\n"},
		{"unicode white space", "in", "a\u2003b\u00a0a", "a\t2\nb\t1\n"},
		{"gzip", "in.gz", zipped.String(), "b\t2\na\t1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := exampletest.Write(t, test.file, test.data)
			if got := exampletest.Play(t, run, "", "-in", path, "-once", "-top", "0"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("glob", func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte("w\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := exampletest.Play(t, run, "", "-in", filepath.Join(dir, "*.txt"), "-once"), "w\t3\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("top", func(t *testing.T) {
		path := exampletest.Write(t, "in", "a b b c c c")
		if got, want := exampletest.Play(t, run, "", "-in", path, "-once", "-top", "2"), "c\t3\nb\t2\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("a long line", func(t *testing.T) {
		path := exampletest.Write(t, "in", strings.Repeat("word ", 1<<20))
		if got, want := exampletest.Play(t, run, "", "-in", path, "-once"), "word\t1048576\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestMissingFileIsAnErrorOfOneLine(t *testing.T) {
	for _, args := range [][]string{{"-in", "/there/is/none", "-once"}, {"-in", "/there/is/none"}} {
		err := run(t.Context(), args, strings.NewReader(""), &bytes.Buffer{}, streamingcontext.SystemClock{})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

func TestStreamPrintsTheSameBytesEveryTime(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "w%d w%d x\n", i%7, i%13)
	}
	path := exampletest.Write(t, "in", text.String())
	first := exampletest.Play(t, run, "", "-in", path, "-top", "3")
	if second := exampletest.Play(t, run, "", "-in", path, "-top", "3"); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	if want := "totals after 12 batches: 14 different words\nx\t2000\nw0\t440\nw1\t440\n"; !strings.HasSuffix(first, want) {
		t.Errorf("the end is not %q:\n%s", want, first)
	}
	if lines := strings.Count(first, "\n"); lines != 12+4 {
		t.Errorf("%d lines:\n%s", lines, first)
	}
}

func TestStandardInput(t *testing.T) {
	got := exampletest.Play(t, run, "b a\nb", "-in", "-", "-top", "0")
	if want := "totals after 1 batches: 2 different words\nb\t2\na\t1\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want the end %q", got, want)
	}
}

func TestSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(conn, "a b a\n")
		<-ctx.Done()
		_ = conn.Close()
	}()
	out := &notify{seen: make(chan struct{}), want: "a:2 b:1"}
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-addr", l.Addr().String(), "-batch", "50ms"}, nil, out, streamingcontext.SystemClock{})
	}()
	<-out.seen
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.buf.String(), "a\t2\nb\t1\n") {
		t.Errorf("output %q", out.buf.String())
	}
}

// notify is a writer that tells when something has been written.
type notify struct {
	buf  bytes.Buffer
	want string
	seen chan struct{}
	told bool
}

func (n *notify) Write(p []byte) (int, error) {
	n.buf.Write(p)
	if !n.told && strings.Contains(n.buf.String(), n.want) {
		n.told = true
		close(n.seen)
	}
	return len(p), nil
}
