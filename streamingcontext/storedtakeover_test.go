package streamingcontext_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/streamingcontext"
)

// stopped is the store of a process that is stopped before the first call that stops says, after it was told to.
type stopped struct {
	blobstore.Store
	stops func(call, name string) bool // called with what the call is and the name, the prefix or the names
	mu    sync.Mutex
	armed bool
	at    chan struct{} // closed when it stands still
	on    chan struct{} // closed when it goes on
	// renews is closed when the owner's record is renewed again.
	renews chan struct{}
}

func stopping(store blobstore.Store, stops func(call, name string) bool) *stopped {
	return &stopped{Store: store, stops: stops, at: make(chan struct{}), on: make(chan struct{}), renews: make(chan struct{})}
}

// arm lets the process be stopped from now on.
func (s *stopped) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = true
}

func (s *stopped) still(call, name string) {
	s.mu.Lock()
	if s.armed && s.stops(call, name) {
		s.armed = false
		close(s.at)
	}
	s.mu.Unlock()
	select {
	case <-s.at:
		<-s.on
	default:
	}
}

func (s *stopped) Remove(ctx context.Context, names ...string) error {
	s.still("remove", strings.Join(names, " "))
	return s.Store.Remove(ctx, names...)
}

func (s *stopped) List(ctx context.Context, prefix, after string, limit int) ([]blobstore.Info, error) {
	s.still("list", prefix)
	return s.Store.List(ctx, prefix, after, limit)
}

func (s *stopped) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	s.still("put", name)
	return s.Store.Put(ctx, name, write)
}

func (s *stopped) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	s.still("put if absent", name)
	return s.Store.PutIfAbsent(ctx, name, data)
}

func (s *stopped) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (blobstore.Tag, error) {
	select {
	case <-s.renews:
	case <-s.at: // so that the process is not told of the other by the owner's record
		return "", blobtest.ErrFault
	default:
	}
	return s.Store.CompareAndSwap(ctx, name, old, data)
}

// contents returns what a store holds beside the driver log's record of its owner.
func contents(t *testing.T, store blobstore.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for info, err := range blobstore.All(t.Context(), store, "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if info.Name == "driver/owner" {
			continue
		}
		data, _, err := store.Read(t.Context(), info.Name)
		if err != nil {
			t.Fatal(err)
		}
		all[info.Name] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return all
}

// Of two programs on one store the second is refused and told of the first. One that was stopped, in the middle of removing what its
// checkpoint has made superfluous, and wakes up when another leads, neither writes nor removes anything.
func TestTwoDriversOnOneStore_D9(t *testing.T) {
	const keys, batches = 500, 16
	want := throughout(t, keys, batches)
	memory, out := blobtest.NewMemory(), new(rowsSeen)
	gate := stopping(memory, func(call, name string) bool { return call == "remove" && strings.HasPrefix(name, "state/") })
	wake, renew := sync.OnceFunc(func() { close(gate.on) }), sync.OnceFunc(func() { close(gate.renews) })
	first := onStore(t, out, keys, gate, objectLog(t, gate, "first", 0))
	first.start()
	t.Cleanup(func() { wake(); renew() }) // before the program and its log are closed
	first.advance(5)

	var locked *objectlog.LockedError
	if _, err := objectlog.Open(t.Context(), memory, objectlog.Options{Node: "second"}); !errors.As(err, &locked) || !strings.Contains(err.Error(), "first") {
		t.Fatalf("Open = %v, want a LockedError that names first", err)
	}

	gate.arm()
	for range 4 {
		first.clock.Advance(1000)
	}
	<-gate.at
	secondLog := objectLog(t, memory, "second", time.Minute)
	second := onStore(t, out, keys, memory, secondLog)
	second.clock.Set(first.clock.Now())
	second.start()
	second.settled()
	second.advance(batches - int(second.clock.Now()/1000))
	before := contents(t, memory)
	wake()
	first.clock.Advance(3000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var fenced *driverlog.FencedError
	if err := first.ssc.Await(ctx); !errors.Is(err, streamingcontext.ErrTermLost) && !errors.As(err, &fenced) {
		t.Errorf("the first ends with %v", err)
	}
	renew()
	first.stop()
	after := contents(t, memory)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			t.Errorf("the first has changed or removed %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == "" {
			t.Errorf("the first has written %s", name)
		}
	}
	wantWhole(t, memory, secondLog)
	second.stop()
	out.want(t, want)
}
