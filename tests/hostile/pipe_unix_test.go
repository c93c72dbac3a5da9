//go:build unix

package hostile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func TestFilesThatAreNone(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "one\n")
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	count := func(r *rdd.RDD[string]) (n int64, err error) {
		err = within(t, "job", func() (err error) { n, err = r.Count(t.Context()); return err })
		return n, err
	}
	if n, err := count(rdd.TextFile(e.RDDs(), dir, 1)); n != 1 || err != nil {
		t.Errorf("folder with a FIFO: %d, %v", n, err)
	}
	for _, path := range []string{fifo, filepath.Join(dir, "none"), dir + "/a/b"} {
		for _, r := range []*rdd.RDD[string]{rdd.TextFile(e.RDDs(), path, 2), rdd.TextFiles(e.RDDs(), []string{path})} {
			if _, err := count(r); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v", path, err)
			}
		}
	}
	if _, err := count(rdd.TextFiles(e.RDDs(), []string{dir})); err == nil {
		t.Error("a folder is read as a file")
	}
}
