package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/dstream/sink/files"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shown returns the rows that the sink shows, sorted.
func shown(t *testing.T, out string) (rows []string) {
	t.Helper()
	for row, err := range files.Read(out, files.ReadOptions{}) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(row.Line))
	}
	slices.Sort(rows)
	return rows
}

// A driver that is alone counts, and goes on with its totals when it is started again. docs/operations.md makes it three.
func TestTotalsGoOn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a\t2\t2|b\t1\t1", "a\t1\t3|a\t2\t2|b\t1\t1"} {
		synctest.Test(t, func(t *testing.T) {
			name, text := at([]string{"in/one", "in/two"}[i]), []string{"a b a\n", "a\n"}[i]
			if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chtimes(name, time.Now(), time.Now())); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			var log bytes.Buffer
			ended := make(chan error, 1)
			go func() {
				ended <- run(ctx, []string{"-data", at("a"), "-store", at("store"), "-in", at("in"), "-out", at("out"), "-batch", "100ms"}, &log)
			}()
			for range 100 {
				if strings.Join(shown(t, at("out")), "|") == want {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			stop()
			if err := <-ended; err != nil {
				t.Errorf("run = %v\n%s", err, &log)
			}
			if got := strings.Join(shown(t, at("out")), "|"); got != want {
				t.Errorf("the sink shows %q, want %q\n%s", got, want, &log)
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	for _, args := range []string{"", "-data d", "-data d -store s -in i -out o more", "-what", "-data d -store s -in i -out o -listen 192.0.2.1:1", "-data d -store s -in i -out o -http :80"} {
		args := strings.ReplaceAll(" "+args, " d ", " "+t.TempDir()+" ")
		if err := run(t.Context(), strings.Fields(strings.ReplaceAll(args, " s ", " "+t.TempDir()+" ")), new(bytes.Buffer)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
