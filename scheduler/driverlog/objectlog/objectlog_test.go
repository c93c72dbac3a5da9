package objectlog_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

// server is a real object store, as http://ACCESSKEY:SECRETKEY@host:port. Without it there is a double.
var server = flag.String("s3", "", "run on the server at this URL, which has its keys as user and password")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// factory opens logs in stores of their own, which take a snapshot every few entries. Their records lapse soon, as the suite
// does not wait for those of logs that it ends.
type factory struct {
	every int
	store func(t *testing.T) blobstore.Store
}

func (f factory) opts() objectlog.Options {
	return objectlog.Options{Node: "n1", SnapshotEvery: f.every, Lease: 30 * time.Millisecond, Wait: 20 * time.Second}
}

func (f factory) Open(t *testing.T) driverlog.Log { return open(t, f.store(t), f.opts()) }

func (f factory) Reopen(t *testing.T, log driverlog.Log) driverlog.Log {
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, log.(*objectlog.Log).Store(), f.opts())
}

func (f factory) Crash(t *testing.T, log driverlog.Log) driverlog.Log {
	l := log.(*objectlog.Log)
	l.Kill()
	return open(t, l.Store(), f.opts())
}

func (f factory) Copy(t *testing.T, log driverlog.Log) (driverlog.Log, error) {
	from, to := log.(*objectlog.Log).Store(), blobtest.NewMemory()
	for _, prefix := range []string{"driver/log/", "driver/snapshot/"} { // snapshots last: they hold what was removed meanwhile
		for info, err := range blobstore.All(t.Context(), from, prefix, "") {
			if err != nil {
				t.Fatal(err)
			}
			data, _, err := from.Read(t.Context(), info.Name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err = errors.Join(err, to.PutIfAbsent(t.Context(), info.Name, data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	copied, err := objectlog.Open(t.Context(), to, f.opts())
	if err != nil {
		var corrupt *objectlog.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("Open of a copy = %v, want a CorruptError", err)
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

func open(t testing.TB, store blobstore.Store, opts objectlog.Options) *objectlog.Log {
	t.Helper()
	log, err := objectlog.Open(context.Background(), store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func inMemory(*testing.T) blobstore.Store {
	m := blobtest.NewMemory()
	m.SetPage(7)
	return m
}

func inFolder(t *testing.T) blobstore.Store {
	s, err := folder.Open(filepath.Join(t.TempDir(), "store"), folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inBucket(t *testing.T) blobstore.Store {
	s, err := s3store.Open(t.Context(), s3test.Bucket(t, *server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestConformance(t *testing.T) {
	for _, every := range []int{1, 7, 1024} {
		t.Run(fmt.Sprintf("in_memory_snapshot_every_%d", every), func(t *testing.T) { logtest.Run(t, factory{every, inMemory}) })
	}
	t.Run("in_a_folder", func(t *testing.T) { logtest.Run(t, factory{100, inFolder}) })
	t.Run("in_an_object_store", func(t *testing.T) { logtest.Run(t, factory{100, inBucket}) })
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts objectlog.Options
	}{
		{"long_node_name", objectlog.Options{Node: strings.Repeat("n", 256)}},
		{"negative_snapshot_interval", objectlog.Options{SnapshotEvery: -1}},
		{"negative_lease", objectlog.Options{Lease: -1}},
		{"negative_wait", objectlog.Options{Wait: -1}},
		{"bad_prefix", objectlog.Options{Prefix: "../x"}},
	} {
		t.Run(tt.name+"_is_refused", func(t *testing.T) {
			if _, err := objectlog.Open(t.Context(), blobtest.NewMemory(), tt.opts); err == nil {
				t.Error("Open accepted it")
			}
		})
	}
	t.Run("the_zero_value_prints_its_defaults", func(t *testing.T) {
		want := "node local, prefix driver, snapshot every 1024, lease 10s, wait 0s, timeout 30s"
		if got := (objectlog.Options{}).String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	})
}

// A runner takes batches of one application through a log.
type runner struct {
	log   *objectlog.Log
	epoch uint64
	next  int64
}

func lead(t testing.TB, log *objectlog.Log) *runner {
	t.Helper()
	term, err := log.Lead(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	state, err := log.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return &runner{log: log, epoch: term.Epoch, next: state.App("app").Next}
}

func (r *runner) begin(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: r.epoch, App: "app", Batch: id, Time: 1000 * id,
		Inputs: []driverlog.Input{{Stream: 1, Data: []byte("topic-0: 1234567-1234999")}}}
}

func (r *runner) prepared(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Prepared, Epoch: r.epoch, App: "app", Batch: id, Manifest: []byte("manifest")}
}

func (r *runner) committed(id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Committed, Epoch: r.epoch, App: "app", Batch: id}
}

// batch runs the next batch.
func (r *runner) batch() error {
	_, err := r.log.ProposeAll(context.Background(), []driverlog.Command{r.begin(r.next), r.prepared(r.next), r.committed(r.next)})
	if err == nil {
		r.next++
	}
	return err
}

// batches runs n batches.
func (r *runner) batches(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := r.batch(); err != nil {
			t.Fatal(err)
		}
	}
}

func closeLog(t testing.TB, log *objectlog.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

func ExampleOpen() {
	ctx := context.Background()
	store := blobtest.NewMemory()
	for i := range 2 { // the second time as after the end of the first driver, on another machine
		log, err := objectlog.Open(ctx, store, objectlog.Options{Node: fmt.Sprintf("driver-%d", i+1)})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = objectlog.Open(ctx, store, objectlog.Options{Node: "intruder"})
		var locked *objectlog.LockedError
		fmt.Println("locked:", errors.As(err, &locked) && locked.Holder.Node == fmt.Sprintf("driver-%d", i+1))
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
	info, err := objectlog.Dump(ctx, store, "driver", func(e objectlog.Entry) error {
		fmt.Println(e.Index, e.Command.Kind)
		return nil
	})
	fmt.Println(info.Entries, info.Owner.Node, info.Owner.Ended, err)
	fmt.Println(strings.Join(store.Names(), "\n"))
	// Output:
	// locked: true
	// epoch 1 begins batch 0: {Index:2 Epoch:1 Duplicate:false} <nil>
	// locked: true
	// epoch 3 begins batch 1: {Index:4 Epoch:3 Duplicate:false} <nil>
	// 1 leader start
	// 2 begin
	// 3 leader start
	// 4 begin
	// 4 driver-2 true <nil>
	// driver/log/00000000000000000001
	// driver/log/00000000000000000002
	// driver/log/00000000000000000003
	// driver/log/00000000000000000004
	// driver/owner
}
