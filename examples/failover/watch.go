package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A watch looks at the nodes of a lasting run between faults: at what the sink shows, what the nodes say that they hold, and what they use.
type watch struct {
	c      *group
	stdout io.Writer
	begin  time.Time
	next   time.Time // of a line of measures
}

func newWatch(c *group, stdout io.Writer, begin time.Time) *watch {
	c.live = newChecker(c.out(), c.batch.Milliseconds())
	c.live.text = newReader(c.text.in)
	return &watch{c: c, stdout: stdout, begin: begin}
}

// look compares all batches that were committed since the last look, and prints a line of measures when it is time.
func (w *watch) look(faults int) error {
	c := w.c
	if err := errors.Join(c.board.err(), c.live.advance(c.board.last())); err != nil {
		return err
	}
	if err := c.live.text.forget(keptFiles); err != nil || time.Now().Before(w.next) {
		return err
	}
	w.next = time.Now().Add(c.sample)
	return w.sample(faults)
}

// sample prints a line of measures.
//
//	sample<TAB>seconds<TAB>name=value<TAB>...
//
// Those whose name begins with "one_" are of the node whose process is spared. Of others it is the most that any node has.
func (w *watch) sample(faults int) error {
	c := w.c
	c.board.mu.Lock()
	use, compared, terms := map[int]uses{}, c.board.agreed.compared, c.board.terms
	for _, n := range c.members() {
		use[n.number] = c.board.uses[n.number]
	}
	c.board.mu.Unlock()
	var most, one usage
	members := c.members()
	single := members[0]
	if c.spared != nil {
		single = c.spared
	}
	for _, n := range members {
		u, err := c.usage(n, use[n.number])
		if err != nil {
			return err
		}
		if n == single {
			one = u
		}
		most = most.max(u)
	}
	shared, err := sizeOf(filepath.Join(c.dir, "shared"))
	if err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	line := &strings.Builder{}
	fmt.Fprintf(line, "sample\t%d", int(time.Since(w.begin).Seconds()))
	for _, measure := range []struct {
		name  string
		value int64
	}{
		{"batches", c.live.next}, {"faults", int64(faults)}, {"epochs", int64(terms)}, {"nodes", int64(len(c.members()))}, {"digests_compared", int64(compared)},
		{"one_goroutines", one.goroutines}, {"one_heap_kib", one.heap >> 10}, {"one_rss_kib", one.rss >> 10}, {"one_open_files", one.open},
		{"goroutines", most.goroutines}, {"heap_kib", most.heap >> 10}, {"rss_kib", most.rss >> 10}, {"open_files", most.open},
		{"raft_kib", most.raft.bytes >> 10}, {"raft_files", most.raft.files}, {"copies_kib", most.copies.bytes >> 10}, {"copies_files", most.copies.files},
		{"shared_kib", shared.bytes >> 10}, {"shared_files", shared.files},
		{"text_files", int64(c.live.text.there())}, {"checker_heap_kib", int64(m.HeapAlloc >> 10)},
	} {
		fmt.Fprintf(line, "\t%s=%d", measure.name, measure.value)
	}
	_, err = fmt.Fprintln(w.stdout, line)
	return err
}

// A size is what is below a folder.
type size struct{ files, bytes int64 }

// usage is what a node has.
type usage struct {
	goroutines, heap, rss, open int64
	raft, copies                size
}

func (u usage) max(v usage) usage {
	return usage{max(u.goroutines, v.goroutines), max(u.heap, v.heap), max(u.rss, v.rss), max(u.open, v.open),
		size{max(u.raft.files, v.raft.files), max(u.raft.bytes, v.raft.bytes)},
		size{max(u.copies.files, v.copies.files), max(u.copies.bytes, v.copies.bytes)}}
}

// usage returns what a node has. Memory and open files of the process are 0 where there is no /proc.
func (c *group) usage(n *node, said uses) (u usage, err error) {
	u.goroutines, u.heap = int64(said.goroutines), said.heap
	proc := filepath.Join("/proc", strconv.Itoa(n.proc.Pid()))
	if open, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		u.open = int64(len(open))
	}
	if statm, err := os.ReadFile(filepath.Join(proc, "statm")); err == nil {
		var all, resident int64
		if _, err := fmt.Sscan(string(statm), &all, &resident); err == nil {
			u.rss = resident * int64(os.Getpagesize())
		}
	}
	if u.raft, err = sizeOf(c.raftFolder(n)); err != nil {
		return u, err
	}
	u.copies, err = sizeOf(filepath.Join(c.folder(n), "copies"))
	return u, err
}

// sizeOf returns what is below a folder, which changes meanwhile.
func sizeOf(dir string) (s size, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				s.files, s.bytes = s.files+1, s.bytes+info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return s, err
}
