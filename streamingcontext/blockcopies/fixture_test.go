package blockcopies_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// A world is drivers and what is between them.
type world struct {
	t    testing.TB
	net  linktest.Network
	root string

	mu      sync.Mutex // guards what follows
	members []blockcopies.Member
	cuts    map[string]bool // "a b" for both directions
	conns   map[*wire]bool
	logged  []string
}

func newWorld(t testing.TB, names ...string) *world {
	w := &world{t: t, root: t.TempDir(), cuts: map[string]bool{}, conns: map[*wire]bool{}}
	w.member(names...)
	return w
}

func (w *world) member(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = nil
	for _, n := range names {
		w.members = append(w.members, blockcopies.Member{ID: n, Address: n})
	}
}

func pair(a, b string) string { return min(a, b) + " " + max(a, b) }

// cut ends what is between a driver and others, and keeps it so.
func (w *world) cut(a string, others ...string) {
	w.mu.Lock()
	var ended []*wire
	for _, b := range others {
		w.cuts[pair(a, b)] = true
		for c := range w.conns {
			if c.between == pair(a, b) {
				ended = append(ended, c)
			}
		}
	}
	w.mu.Unlock()
	for _, c := range ended {
		_ = c.Close()
	}
}

func (w *world) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.cuts)
}

func (w *world) isCut(a, b string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts[pair(a, b)]
}

// saw reports whether something was logged.
func (w *world) saw(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.logged, func(line string) bool { return strings.Contains(line, text) })
}

func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logged = append(w.logged, string(line))
	return len(line), nil
}

// wire is a connection that can be cut.
type wire struct {
	net.Conn
	w       *world
	between string
}

func (c *wire) Close() error {
	c.w.mu.Lock()
	delete(c.w.conns, c)
	c.w.mu.Unlock()
	return c.Conn.Close()
}

// port is a driver's part of the network.
type port struct {
	net.Listener
	w    *world
	name string
}

func (p *port) DialContext(ctx context.Context, address string) (net.Conn, error) {
	if p.w.isCut(p.name, address) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c, err := p.w.net.From(p.name).DialContext(ctx, address)
	if err != nil {
		return nil, err
	}
	tracked := &wire{c, p.w, pair(p.name, address)}
	p.w.mu.Lock()
	p.w.conns[tracked] = true
	p.w.mu.Unlock()
	if p.w.isCut(p.name, address) {
		_ = tracked.Close()
	}
	return tracked, nil
}

// A driver is a process.
type driver struct {
	*blockcopies.Copies
	w       *world
	name    string
	running sync.WaitGroup
}

// driver starts a process.
func (w *world) driver(name string, change ...func(*blockcopies.Options)) *driver {
	w.t.Helper()
	listener, err := w.net.Listen(name)
	if err != nil {
		w.t.Fatal(err)
	}
	opts := blockcopies.Options{ID: name, Timeout: 3 * time.Second, Retry: 100 * time.Millisecond,
		Members: func() []blockcopies.Member {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.members
		},
		Logger: slog.New(slog.NewTextHandler(w, nil)).With("at", name)}
	for _, f := range change {
		f(&opts)
	}
	c, err := blockcopies.New(&port{listener, w, name}, w.dir(name), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	d := &driver{Copies: c, w: w, name: name}
	d.running.Go(func() {
		if err := c.Run(context.Background()); err != nil && !errors.Is(err, blockcopies.ErrClosed) { // before it began
			w.t.Error(err)
		}
	})
	w.t.Cleanup(d.stop)
	return d
}

func (w *world) dir(name string) string { return filepath.Join(w.root, name) }

// stop ends a process.
func (d *driver) stop() {
	d.w.t.Helper()
	if err := d.Close(); err != nil {
		d.w.t.Error(err)
	}
	d.running.Wait()
}

// lose ends a process and takes its disk.
func (d *driver) lose() {
	d.w.t.Helper()
	d.stop()
	if err := os.RemoveAll(d.w.dir(d.name)); err != nil {
		d.w.t.Fatal(err)
	}
}

func (d *driver) lead(epoch uint64) streamingcontext.BlockLog {
	d.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	log, err := d.Lead(ctx, epoch)
	if err != nil {
		d.w.t.Fatal(err)
	}
	return log
}

// block is the content of a block.
func block(i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "block %d,", i), 1+i%7*13)
}

// kept is what was acknowledged: addresses by content.
type kept map[string]streamingcontext.BlockAddress

// store appends blocks, which are to be acknowledged.
func (k kept) store(t testing.TB, log streamingcontext.BlockLog, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		at, err := log.Append(context.Background(), int32(i%3), block(i), fmt.Appendf(nil, "meta %d", i))
		if err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
		k[string(block(i))] = at
	}
}

// found returns what a log has: each block once, in order, readable.
func found(t testing.TB, log streamingcontext.BlockLog) kept {
	t.Helper()
	all := kept{}
	var last streamingcontext.BlockAddress
	err := log.Scan(context.Background(), func(e streamingcontext.BlockEntry) error {
		if e.Address.Compare(last) <= 0 {
			t.Errorf("%v comes after %v", e.Address, last)
		}
		last = e.Address
		data, err := log.Read(e.Address)
		if err != nil {
			return err
		}
		if before, twice := all[string(data)]; twice {
			t.Errorf("%.20q is at %v and %v", data, before, e.Address)
		}
		all[string(data)] = e.Address
		return nil
	})
	if err != nil {
		t.Errorf("scan: %v", err)
	}
	return all
}

// within checks that all that was acknowledged was found, where it was put.
func (k kept) within(t testing.TB, all kept) {
	t.Helper()
	for data, at := range k {
		if all[data] != at {
			t.Errorf("%.20q was acknowledged at %v, and found at %v", data, at, all[data])
		}
	}
}

// files returns what is in the logs of a driver.
func (w *world) files(name string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	root := w.dir(name)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		all[rel] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return all
}

// wantSame checks that two drivers have the same bytes.
func (w *world) wantSame(a, b string) {
	w.t.Helper()
	left, right := w.files(a), w.files(b)
	if len(left) == 0 || !maps.Equal(left, right) {
		w.t.Errorf("%s has %v, %s has %v", a, slices.Sorted(maps.Keys(left)), b, slices.Sorted(maps.Keys(right)))
		for _, f := range slices.Sorted(maps.Keys(left)) {
			if left[f] != right[f] {
				w.t.Errorf("%s: %d and %d bytes", f, len(left[f]), len(right[f]))
			}
		}
	}
}

// settle waits so long, on the clock of the bubble.
func settle(d time.Duration) { <-time.After(d) }
