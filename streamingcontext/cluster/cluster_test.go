package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drivers are the processes of one application: what it receives is what the test stores.
type drivers struct {
	*testing.T
	net    linktest.Network
	root   string
	store  *blobtest.Memory
	blocks chan block
	led    chan string // names of drivers, when they make batches
}

// A block is rows that a receiver is handed, and where it says what became of them.
type block struct {
	rows   []string
	stored chan error
}

func newDrivers(t *testing.T) *drivers {
	return &drivers{T: t, root: t.TempDir(), store: blobtest.NewMemory(), blocks: make(chan block), led: make(chan string, 16)}
}

// A driver is one of them.
type driver struct {
	*cluster.Node
	name  string
	ended chan error
	stop  context.CancelFunc
}

// open opens a driver; alone is one that nobody reaches.
func (d *drivers) open(name string, opts cluster.Options) *driver {
	d.Helper()
	opts.Name = name
	node, err := cluster.Open(filepath.Join(d.root, name), opts)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = node.Close() })
	return &driver{Node: node, name: name, ended: make(chan error, 1)}
}

func (d *drivers) reached(name string, first bool) cluster.Options {
	return cluster.Options{Build: "counts 1 of " + name, Listen: name + ":7000", Network: d.net.From(name + ":7000"), Bootstrap: first, Timeouts: raftlog.Fast()}
}

// drive lets a driver run the application.
func (d *drivers) drive(r *driver) {
	ctx, stop := context.WithCancel(d.Context())
	r.stop = stop
	d.Cleanup(stop)
	go func() {
		r.ended <- r.Drive(ctx, streamingcontext.Options{App: "counts", Interval: 100 * time.Millisecond, Store: d.store,
			EngineOptions:  streamingcontext.EngineOptions{Cores: 1},
			DriverListener: streamingcontext.DriverListener{GoingOn: func(*streamingcontext.Context) { d.led <- r.name }},
		}, d.declare)
	}()
}

// declare declares the application: every row as it came.
func (d *drivers) declare(ssc *streamingcontext.Context) error {
	dstream.SaveTo(streamingcontext.Receive(ssc, receivers.Receiver[string](feed{d.blocks})), "rows", files.Text(filepath.Join(d.root, "out")))
	return nil
}

// feed is a receiver that stores what it is handed.
type feed struct{ blocks chan block }

func (f feed) Receive(ctx context.Context, to receivers.Sink[string]) error {
	for {
		select {
		case b := <-f.blocks:
			b.stored <- to.StoreBlock(ctx, b.rows)
		case <-ctx.Done():
			return nil
		}
	}
}

// receive hands rows to whoever leads, again until they are acknowledged.
func (d *drivers) receive(rows ...string) {
	d.Helper()
	for range 100 {
		b := block{rows, make(chan error, 1)}
		select {
		case d.blocks <- b:
		case <-time.After(time.Minute):
			d.Fatal("nobody receives")
		}
		if err := <-b.stored; err == nil {
			return
		}
	}
	d.Fatalf("%q is not acknowledged", rows)
}

// shown waits until the sink shows so many rows and returns them, sorted.
func (d *drivers) shown(n int) []string {
	d.Helper()
	for range 1000 {
		var rows []string
		for row, err := range files.Read(filepath.Join(d.root, "out"), files.ReadOptions{}) {
			if errors.Is(err, os.ErrNotExist) {
				break
			}
			if err != nil {
				d.Fatal(err)
			}
			rows = append(rows, string(row.Line))
		}
		if len(rows) >= n {
			slices.Sort(rows)
			return rows
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.Fatalf("the sink does not show %d rows", n)
	return nil
}

func (d *drivers) join(leader, other *driver) {
	d.Helper()
	if err := leader.Log().Join(d.Context(), raftlog.Member{ID: other.Log().ID(), Address: other.name + ":7000"}); err != nil {
		d.Fatal(err)
	}
}

func numbers(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(1000+i))
	}
	return all
}

// The machine of the driver that leads is gone with its disk. Another goes on, and everything that was acknowledged is in the sink once.
func TestTheLeadersMachineIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		a, b, c := d.open("a", d.reached("a", true)), d.open("b", d.reached("b", false)), d.open("c", d.reached("c", false))
		all := map[string]*driver{"a": a, "b": b, "c": c}
		for _, r := range []*driver{a, b, c} {
			d.drive(r)
		}
		if first := <-d.led; first != "a" {
			t.Fatalf("%s leads first", first)
		}
		d.join(a, b)
		d.join(a, c)
		for i := range 20 {
			d.receive(numbers(i, i+1)...)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := <-a.ended; err == nil {
			t.Error("a driver whose node is closed ends without an error")
		}
		if err := os.RemoveAll(filepath.Join(d.root, "a")); err != nil {
			t.Fatal(err)
		}
		next := all[<-d.led]
		// Until a third takes the place of the first, two drivers are enough.
		for i := 20; i < 40; i++ {
			d.receive(numbers(i, i+1)...)
		}
		if err := next.Log().Remove(t.Context(), a.Log().ID()); err != nil {
			t.Error(err)
		}
		e := d.open("e", d.reached("e", false))
		d.drive(e)
		d.join(next, e)
		for i := 40; i < 50; i++ {
			d.receive(numbers(i, i+1)...)
		}
		if got, want := d.shown(50), numbers(0, 50); !slices.Equal(got, want) {
			t.Errorf("the sink shows %q, want %q", got, want)
		}
		for _, r := range []*driver{b, c, e} {
			r.stop()
			if err := <-r.ended; err != nil {
				t.Errorf("driver %s ends with %v", r.name, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A driver that is alone is a cluster of one by the same code, goes on after a stop, and can grow later.
func TestFromOneToThree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		a := d.open("a", cluster.Options{})
		if a.Addr() != "" || a.HTTPAddr() != "" {
			t.Errorf("it listens on %s", a.Addr())
		}
		d.drive(a)
		<-d.led
		d.receive(numbers(0, 3)...)
		a.stop()
		if err := errors.Join(<-a.ended, a.Close()); err != nil {
			t.Fatal(err)
		}
		a = d.open("a", d.reached("a", false))
		d.drive(a)
		<-d.led
		others := []*driver{d.open("b", d.reached("b", false)), d.open("c", d.reached("c", false))} // two of three go on without the third
		for _, r := range others {
			d.drive(r)
			d.join(a, r)
		}
		d.receive(numbers(3, 6)...)
		a.stop() // hands over
		if err := errors.Join(<-a.ended, a.Close()); err != nil {
			t.Error(err)
		}
		if next := <-d.led; next == "a" {
			t.Error("it leads again")
		}
		if got, want := d.shown(6), numbers(0, 6); !slices.Equal(got, want) {
			t.Errorf("the sink shows %q, want %q", got, want)
		}
		for _, r := range others {
			r.stop()
			if err := errors.Join(<-r.ended, r.Close()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		a := d.open("a", d.reached("a", true))
		b := d.open("b", d.reached("b", false)) // never a member
		ask := func(r *driver, path string) (code int, s cluster.Status) {
			w := httptest.NewRecorder()
			r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			return w.Code, s
		}
		if code, s := ask(a, "/healthz"); code != http.StatusServiceUnavailable || s.Does != "idle" {
			t.Errorf("before Drive: %d, %s", code, s.Does)
		}
		d.drive(a)
		d.drive(b)
		<-d.led
		time.Sleep(time.Second)
		code, s := ask(a, "/readyz")
		if code != http.StatusOK || s.Does != "leading" || s.Role != "leader" || s.App != "counts" || s.Build != "counts 1 of a" || s.Batch < 5 || s.BatchTime == 0 || len(s.Members) != 1 {
			t.Errorf("a leader: %d, %+v", code, s)
		}
		if code, s := ask(b, "/readyz"); code != http.StatusServiceUnavailable || s.Does != "standing by" {
			t.Errorf("one that is in no cluster is ready: %d, %s", code, s.Does)
		}
		d.join(a, b)
		time.Sleep(time.Second)
		if code, s := ask(b, "/readyz"); code != http.StatusOK || s.Leader.ID != a.Log().ID() || s.Batch < 10 {
			t.Errorf("one that stands by: %d, %+v", code, s)
		}
		if err := driverlog.SetStatus(t.Context(), a.Log(), "counts", driverlog.Paused); err != nil {
			t.Error(err)
		}
		for _, r := range []*driver{b, a} {
			r.stop()
			if err := errors.Join(<-r.ended); err != nil {
				t.Error(err)
			}
			if code, _ := ask(r, "/healthz"); code != http.StatusServiceUnavailable {
				t.Errorf("after Drive: %d", code)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestBadOptions(t *testing.T) {
	for _, o := range []cluster.Options{{Advertise: "a:1"}, {Copies: -1}, {Name: "a/b"}, {Listen: "192.0.2.1:0"}} {
		if node, err := cluster.Open(t.TempDir(), o); err == nil {
			t.Errorf("%v is taken", o)
			_ = node.Close()
		}
	}
	node, err := cluster.Open(t.TempDir(), cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if err := node.Drive(t.Context(), streamingcontext.Options{Cluster: node.Log()}, nil); err == nil {
		t.Error("a Cluster of the program's own is taken")
	}
	if err := node.Drive(t.Context(), streamingcontext.Options{}, nil); !errors.Is(err, dstream.ErrNilFunction) {
		t.Errorf("Drive = %v", err)
	}
	if err := node.Drive(t.Context(), streamingcontext.Options{}, nil); !errors.Is(err, cluster.ErrDriven) {
		t.Errorf("a second Drive = %v", err)
	}
}

func ExampleNode_Drive() {
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	node, err := cluster.Open(dir, cluster.Options{Name: "driver-1"}) // Listen and TLS: others can join it
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	ctx, stop := context.WithCancel(context.Background())
	var once sync.Once
	err = node.Drive(ctx, streamingcontext.Options{App: "ticks", Interval: 10 * time.Millisecond, Store: blobtest.NewMemory()}, func(ssc *streamingcontext.Context) error {
		ticks := streamingcontext.Receive(ssc, receivers.Receiver[string](feed{}))
		dstream.SaveTo(ticks, "ticks", files.Text(filepath.Join(dir, "out")))
		ssc.AddListener(&streamingcontext.Listener{BatchCommitted: func(streamingcontext.CommittedBatch) {
			once.Do(func() { fmt.Println("a batch is committed"); stop() })
		}})
		return nil
	})
	fmt.Println("ended with", err)
	// Output:
	// a batch is committed
	// ended with <nil>
}
