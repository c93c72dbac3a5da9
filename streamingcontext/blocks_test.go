package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// machines are disks with copies of blocks and a network between them.
type machines struct {
	t    *testing.T
	net  linktest.Network
	root string

	mu  sync.Mutex // guards now
	now []blockcopies.Member
}

// are says which machines there are.
func (m *machines) are(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = nil
	for _, n := range names {
		m.now = append(m.now, blockcopies.Member{ID: machineID(n), Address: n})
	}
}

// machineID is what a machine says of itself.
func machineID(name string) string { return name + "-0123456789abcdef" }

// start returns the copies of a machine, and what ends them and takes its disk.
func (m *machines) start(name string) (copies *blockcopies.Copies, lose func()) {
	m.t.Helper()
	cluster := func() string { return "0123456789abcdef0123456789abcdef" }
	l, err := link.Listen(link.Options{Network: m.net.From(name), Address: name, Name: name, ID: machineID(name), Cluster: cluster})
	if err != nil {
		m.t.Fatal(err)
	}
	dir := filepath.Join(m.root, name)
	copies, err = blockcopies.New(l.Protocol("blocks"), dir, blockcopies.Options{ID: machineID(name), Retry: 10 * time.Millisecond, Members: func() []blockcopies.Member {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.now
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = l.Run(context.Background()) })
	running.Go(func() {
		if err := copies.Run(context.Background()); err != nil {
			m.t.Error(err)
		}
	})
	lose = sync.OnceFunc(func() {
		if err := errors.Join(copies.Close(), l.Close(), os.RemoveAll(dir)); err != nil {
			m.t.Error(err)
		}
		running.Wait()
	})
	m.t.Cleanup(lose)
	return copies, lose
}

// The leader's machine goes with its disk, once and then again: the next one, which shares with it a store of checkpoints and the driver log only, runs
// the batch that was under way again with the blocks that it had, and gives those that no batch had to the next one. Each record that was acknowledged is in
// one batch.
func TestBlocksOutliveTheMachine_R9_C01_C02(t *testing.T) {
	for name, newLog := range map[string]func(t *testing.T, store *blobtest.Memory) driverlog.Log{
		"memlog": func(t *testing.T, _ *blobtest.Memory) driverlog.Log { return newLog(t) },
		"objectlog": func(t *testing.T, store *blobtest.Memory) driverlog.Log {
			return objectLog(t, store, "driver", time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machines{t: t, root: t.TempDir()}
			m.are("a", "b")
			a, loseA := m.start("a")
			b, loseB := m.start("b")
			store := blobtest.NewMemory()
			log := newLog(t, store)
			next := func() {
				switch l := log.(type) {
				case *memlog.Log:
					l.StepDown()
				case *objectlog.Log: // one process has one
					if err := l.Close(); err != nil {
						t.Error(err)
					}
					log = newLog(t, store)
				}
			}
			r := receive(t)
			r.dir = ""
			var blocks streamingcontext.Blocks = a
			r.configure = func(o *streamingcontext.Options) { o.Store, o.Log, o.Blocks, o.RepeatLast = store, log, blocks, false }
			r.start()
			r.h.store(t, 1)
			r.advance(1)
			r.out.want(t, "1 [[1]]")
			r.stuck = 2000
			r.h.store(t, 2, 3)
			r.h.store(t, 4)
			r.clock.Advance(1000)
			<-r.began
			r.h.store(t, 5)
			r.h.store(t, 6, 7)
			r.stop()
			loseA()
			next()

			blocks, r.stuck = b, 0
			r.start()
			r.advance(1)
			r.out.want(t, "2 [[2 3] [4]]", "3 [[5] [6 7]]")

			// There is nobody else: the receiver waits until a machine takes the place of the first.
			stored := make(chan error, 1)
			var work sync.WaitGroup
			work.Go(func() {
				r.h.blocks <- []int{8}
				stored <- <-r.h.stored
			})
			for b.Status().Waiting == 0 {
				runtime.Gosched()
			}
			r.advance(1)
			r.out.want(t)
			select {
			case err := <-stored:
				t.Errorf("a block on one machine was acknowledged, %v", err)
			default:
			}
			c, _ := m.start("c")
			m.are("b", "c")
			if err := <-stored; err != nil {
				t.Error(err)
			}
			work.Wait()
			r.h.store(t, 9)
			r.stop()
			loseB()
			next()

			blocks = c
			r.start()
			r.advance(1)
			r.out.want(t, "5 [[8] [9]]")
			if got := c.Status(); got.Epoch == 0 || got.Segments == 0 {
				t.Errorf("status %+v", got)
			}
			r.stop()
		})
	}
}

// Blocks need the driver log that the drivers share: it tells their terms.
func TestBlocksNeedALog(t *testing.T) {
	copies, err := blockcopies.New(nil, t.TempDir(), blockcopies.Options{Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = copies.Close() })
	o := streamingcontext.Options{Interval: time.Second, Blocks: copies}
	if err := o.Validate(); err == nil {
		t.Error("no error")
	}
	o.Log = newLog(t)
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// A stop at once does not wait for machines that are not there, and what it drops is not acknowledged.
func TestAStopWhileBlocksWaitForCopies(t *testing.T) {
	m := &machines{t: t, root: t.TempDir()}
	m.are("a", "b")
	a, _ := m.start("a")
	r := receive(t)
	r.dir = ""
	store, log := blobtest.NewMemory(), newLog(t)
	r.configure = func(o *streamingcontext.Options) { o.Store, o.Log, o.Blocks, o.RepeatLast = store, log, a, false }
	r.start()
	r.h.blocks <- []int{1}
	for a.Status().Waiting == 0 {
		runtime.Gosched()
	}
	r.stop()
	select {
	case err := <-r.h.stored:
		t.Errorf("acknowledged with %v", err)
	default:
	}
}

// Blocks that are in the folder when Options.Blocks is given are found, and those that are not there when it is not given any more are not taken for
// lost.
func TestBlocksMoveToCopies(t *testing.T) {
	r := receive(t)
	log := newLog(t)
	var blocks streamingcontext.Blocks
	r.configure = func(o *streamingcontext.Options) { o.Log, o.Blocks, o.RepeatLast = log, blocks, false }
	r.start()
	r.h.store(t, 1)
	r.advance(1)
	r.h.store(t, 2)
	r.h.store(t, 3)
	r.stop()
	r.out.want(t, "1 [[1]]")
	copies, err := blockcopies.New(nil, filepath.Join(t.TempDir(), "blocks"), blockcopies.Options{Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := copies.Close(); err != nil {
			t.Error(err)
		}
	})
	blocks = copies
	r.start()
	r.h.store(t, 4)
	r.advance(1)
	r.out.want(t, "2 [[2] [3] [4]]")
	var want []string
	for i := 5; i < 30; i++ { // checkpoints come, and blocks are cleaned
		r.h.store(t, i)
		r.advance(1)
		want = append(want, fmt.Sprintf("%d [[%d]]", i-2, i))
	}
	r.out.want(t, want...)
	r.stop()
	r.start()
	r.h.store(t, 30)
	r.advance(1)
	r.out.want(t, "28 [[30]]")
	r.stop()
	blocks = nil
	if err := r.try(); !errors.Is(err, streamingcontext.ErrBlocksElsewhere) {
		t.Errorf("without the copies: %v", err)
	}
}
