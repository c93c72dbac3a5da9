package boltlog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// factory opens logs in folders of their own, which take a snapshot every few entries.
type factory struct{ every int }

func (f factory) Open(t *testing.T) driverlog.Log {
	return open(t, filepath.Join(t.TempDir(), "driver.db"), f.every)
}

func (f factory) Reopen(t *testing.T, log driverlog.Log) driverlog.Log {
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, log.(*boltlog.Log).Path(), f.every)
}

func (f factory) Crash(t *testing.T, log driverlog.Log) driverlog.Log {
	l := log.(*boltlog.Log)
	if err := l.Kill(); err != nil {
		t.Fatal(err)
	}
	return open(t, l.Path(), f.every)
}

func (f factory) Copy(t *testing.T, log driverlog.Log) (driverlog.Log, error) {
	path := filepath.Join(t.TempDir(), "driver.db")
	from := log.(*boltlog.Log).Path()
	for _, suffix := range []string{".tail", ""} { // the tail first, as it is written last
		if err := copyFile(from+suffix, path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	copied, err := boltlog.Open(path, boltlog.Options{Node: "n1", SnapshotEvery: f.every})
	if err != nil {
		var corrupt *boltlog.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Path != path {
			t.Errorf("Open of a copy = %v, want a CorruptError of %s", err, path)
		}
		return nil, err
	}
	return copied, nil
}

func (factory) Depose(t *testing.T, log driverlog.Log) {
	if _, err := log.Propose(t.Context(), driverlog.Command{Kind: driverlog.LeaderStart, Node: "other"}); err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func open(t testing.TB, path string, every int) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(path, boltlog.Options{Node: "n1", SnapshotEvery: every})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestConformance(t *testing.T) {
	for _, every := range []int{1, 7, 1024} {
		t.Run(fmt.Sprintf("snapshot_every_%d", every), func(t *testing.T) { logtest.Run(t, factory{every}) })
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts boltlog.Options
	}{
		{"long_node_name", boltlog.Options{Node: strings.Repeat("n", 256)}},
		{"negative_snapshot_interval", boltlog.Options{SnapshotEvery: -1}},
		{"negative_timeout", boltlog.Options{LockTimeout: -1}},
	} {
		t.Run(tt.name+"_is_refused", func(t *testing.T) {
			if _, err := boltlog.Open(filepath.Join(t.TempDir(), "driver.db"), tt.opts); err == nil {
				t.Error("Open accepted it")
			}
		})
	}
	t.Run("the_zero_value_prints_its_defaults", func(t *testing.T) {
		if got, want := (boltlog.Options{}).String(), "node local, snapshot every 1024, lock timeout 0s"; got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	})
	t.Run("a_missing_folder_is_named", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none", "driver.db")
		if _, err := boltlog.Open(path, boltlog.Options{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open = %v, want that %s does not exist", err, path)
		}
	})
}

// A runner takes batches of one application through a log.
type runner struct {
	log   *boltlog.Log
	epoch uint64
	next  int64
}

func lead(t testing.TB, log *boltlog.Log) *runner {
	t.Helper()
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &runner{log: log, epoch: term.Epoch, next: state.App("app").Next}
}

func (r *runner) begin(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: r.epoch, App: "app", Batch: id, Time: 1000 * id,
		Inputs: []driverlog.Input{{Stream: 1, Data: []byte("topic-0: 1234567-1234999, topic-1: 1234567-1234999")}}}
}

func (r *runner) prepared(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Prepared, Epoch: r.epoch, App: "app", Batch: id, Manifest: []byte("manifest")}
}

func (r *runner) committed(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Committed, Epoch: r.epoch, App: "app", Batch: id}
}

func (r *runner) application() driverlog.Command {
	return driverlog.Command{Kind: driverlog.Application, Epoch: r.epoch, App: "app", Manifest: []byte("graph")}
}

// close returns what ends all open batches.
func (r *runner) close(t testing.TB) (cmds []driverlog.Command) {
	t.Helper()
	state, err := r.log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range state.App("app").Open {
		cmds = append(cmds, r.prepared(b.ID), r.committed(b.ID))
	}
	return cmds
}

// batches runs n batches.
func (r *runner) batches(t testing.TB, n int) {
	t.Helper()
	for range n {
		r.all(t, r.begin(r.next), r.prepared(r.next), r.committed(r.next))
		r.next++
	}
}

func (r *runner) all(t testing.TB, cmds ...driverlog.Command) {
	t.Helper()
	if _, err := r.log.ProposeAll(t.Context(), cmds); err != nil {
		t.Fatal(err)
	}
}

func (r *runner) propose(t testing.TB, cmd driverlog.Command) {
	t.Helper()
	if _, err := r.log.Propose(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "boltlog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 { // the second time as after the end of the first process
		log, err := boltlog.Open(filepath.Join(dir, "driver.db"), boltlog.Options{Node: "driver-1"})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = boltlog.Open(filepath.Join(dir, "driver.db"), boltlog.Options{})
		var locked *boltlog.LockedError
		fmt.Println("locked by this process:", errors.As(err, &locked) && locked.Holder.PID == os.Getpid())
		ctx := context.Background()
		term, err := log.Lead(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		state, err := log.State(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		app := state.App("counts")
		begin := driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts", Batch: app.Next, Time: 1000 * app.Next}
		res, err := log.Propose(ctx, begin)
		fmt.Printf("epoch %d begins batch %d: %+v %v\n", term.Epoch, begin.Batch, res, err)
		if err := log.Close(); err != nil {
			fmt.Println(err)
		}
	}
	info, err := boltlog.Dump(filepath.Join(dir, "driver.db"), func(e boltlog.Entry) error {
		fmt.Println(e.Index, e.Command.Kind)
		return nil
	})
	fmt.Println(info.Entries, err)
	// Output:
	// locked by this process: true
	// epoch 1 begins batch 0: {Index:2 Epoch:1 Duplicate:false} <nil>
	// locked by this process: true
	// epoch 3 begins batch 1: {Index:4 Epoch:3 Duplicate:false} <nil>
	// 1 leader start
	// 2 begin
	// 3 leader start
	// 4 begin
	// 4 <nil>
}
