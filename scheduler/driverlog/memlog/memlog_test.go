package memlog_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// factory reopens through a snapshot, which is all that a log in memory can leave behind.
type factory struct{}

func (factory) Open(t *testing.T) driverlog.Log { return open(t, memlog.Options{Node: "n1"}) }

func (factory) Reopen(t *testing.T, log driverlog.Log) driverlog.Log {
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, memlog.Options{Node: "n1", Snapshot: state.Append(nil)})
}

func (factory) Depose(_ *testing.T, log driverlog.Log) { log.(*memlog.Log).StepDown() }

func open(t testing.TB, opts memlog.Options) *memlog.Log {
	t.Helper()
	log, err := memlog.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestConformance(t *testing.T) { logtest.Run(t, factory{}) }

func TestNew(t *testing.T) {
	t.Run("damaged_snapshot_is_refused", func(t *testing.T) {
		state := driverlog.State{}
		data := state.Append(nil)
		data[len(data)-1]++
		_, err := memlog.New(memlog.Options{Snapshot: data})
		var corrupt *driverlog.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("New = %v, want a CorruptError", err)
		}
	})
	t.Run("long_node_name_is_refused", func(t *testing.T) {
		if _, err := memlog.New(memlog.Options{Node: strings.Repeat("n", 256)}); err == nil {
			t.Error("New accepted a node name of 256 bytes")
		}
	})
	t.Run("zero_options_lead_as_local", func(t *testing.T) {
		log := open(t, memlog.Options{})
		if _, err := log.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state, err := log.State(t.Context()); err != nil || state.Leader != "local" {
			t.Errorf("leader %q, %v; want local", state.Leader, err)
		}
	})
}

// TestLoseReply plays the leader that never hears of its own decision: the next term finds it.
func TestLoseReply(t *testing.T) {
	log := open(t, memlog.Options{LoseReply: func(c driverlog.Command) bool { return c.Kind == driverlog.Prepared }})
	ctx := t.Context()
	manifests := []string{"first", "second"}
	var heard []error
	err := driverlog.WhileLeading(ctx, log, func(ctx context.Context, epoch uint64) error {
		state, err := log.State(ctx)
		if err != nil {
			return err
		}
		a := state.App("a")
		if b, ok := a.Batch(0); ok && b.Prepared != 0 {
			if string(b.Manifest) != "first" {
				t.Errorf("manifest %q, want first", b.Manifest)
			}
			return nil
		}
		if _, err := log.Propose(ctx, driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: "a", Time: 1}); err != nil {
			return err
		}
		_, err = log.Propose(ctx, driverlog.Command{Kind: driverlog.Prepared, Epoch: epoch, App: "a", Manifest: []byte(manifests[len(heard)])})
		heard = append(heard, err)
		log.StepDown()
		return err
	})
	if err != nil || len(heard) != 1 || !errors.Is(heard[0], driverlog.ErrUnknown) || driverlog.Refused(heard[0]) {
		t.Errorf("WhileLeading = %v after answers %v, want nil after one ErrUnknown", err, heard)
	}
}

// TestMemory compares the heap early and late in a long life.
func TestMemory(t *testing.T) {
	t.Run("does_not_grow_over_a_million_batches", func(t *testing.T) {
		log := open(t, memlog.Options{})
		d := newDriver(t, log, []byte("ranges of forty bytes, more or less long"))
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		d.batches(t, 10_000)
		early := heap()
		d.anon = true // the ids have been around their ring a hundred times; from here on the batches count
		d.batches(t, 990_000)
		late := heap()
		// A kept command would cost 100 bytes at least, 300 MB in all.
		if late > early+256<<10 {
			t.Errorf("heap grew from %d to %d bytes", early, late)
		}
		state, err := log.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := state.Apps[0].Next; got != 1_000_000 {
			t.Errorf("%d batches, want 1000000", got)
		}
		if n := len(state.Append(nil)); n > 16<<10 {
			t.Errorf("state takes %d bytes, want at most 16 KiB", n)
		}
		runtime.KeepAlive(log)
	})
}

// A driver takes one application through batches, as a batch loop would.
type driver struct {
	log    *memlog.Log
	epoch  uint64
	next   int64
	seq    uint64
	inputs []driverlog.Input
	anon   bool // propose without request ids
}

func newDriver(t testing.TB, log *memlog.Log, input []byte) *driver {
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &driver{log: log, epoch: term.Epoch, inputs: []driverlog.Input{{Stream: 1, Data: input}}}
}

func (d *driver) batches(t testing.TB, n int) {
	ctx := t.Context()
	for range n {
		d.propose(t, ctx, driverlog.Command{Kind: driverlog.Begin, Batch: d.next, Time: d.next, Inputs: d.inputs})
		d.propose(t, ctx, driverlog.Command{Kind: driverlog.Prepared, Batch: d.next})
		d.propose(t, ctx, driverlog.Command{Kind: driverlog.Committed, Batch: d.next})
		d.next++
	}
}

func (d *driver) propose(t testing.TB, ctx context.Context, cmd driverlog.Command) {
	d.seq++
	cmd.Epoch, cmd.App = d.epoch, "app"
	if !d.anon {
		cmd.Request = driverlog.RequestID{Proposer: d.epoch, Seq: d.seq}
	}
	if _, err := d.log.Propose(ctx, cmd); err != nil {
		t.Fatal(err)
	}
}

func ExampleLog() {
	log, err := memlog.New(memlog.Options{Node: "driver-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	ctx := context.Background()
	term, _ := log.Lead(ctx)
	cmd := driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts", Batch: 0, Time: 1000}
	fmt.Println(log.Propose(ctx, cmd))
	cmd.Time = 2000
	_, err = log.Propose(ctx, cmd)
	fmt.Println(err)
	// Output:
	// {2 1 false} <nil>
	// propose begin: application counts: begin of batch 0, next is 1
}
