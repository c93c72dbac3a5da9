package boltlog

import (
	"bytes"
	"errors"
	"hash/fnv"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Path returns the file of l.
func (l *Log) Path() string { return l.path }

// SetFault makes the writes of l fail with what fn returns at "before commit" and "after commit".
func (l *Log) SetFault(fn func(point string) error) {
	l.write.Lock()
	defer l.write.Unlock()
	l.store.fault = fn
}

// Transactions returns how many transactions the file of l has had.
func (l *Log) Transactions() int {
	l.write.Lock()
	defer l.write.Unlock()
	return int(l.store.head.txid)
}

// Kill gives up what the kernel would take back from a process that is killed, and writes nothing.
func (l *Log) Kill() error {
	l.mu.Lock()
	l.closed = true
	l.endTerm()
	l.mu.Unlock()
	l.write.Lock()
	defer l.write.Unlock()
	s := l.store
	l.store = nil
	return errors.Join(s.db.Close(), s.tail.file.Close(), l.lock.Abandon())
}

// PageSize is the size of a page.
const PageSize = pageSize

// FirstPages returns what is laid out first.
func FirstPages() []byte { return firstPages() }

// VerifyBytes returns the state of the log whose file is data.
func VerifyBytes(data []byte) (driverlog.State, error) {
	c, err := load("data", bytes.NewReader(data), int64(len(data)), tailRecord{}, false, nil, false)
	return c.state, err
}

// CreateEmpty has bbolt make a file at path.
func CreateEmpty(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{PageSize: pageSize, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// FixMetas gives both meta pages of a file right checksums, so that a fuzzer gets behind them.
func FixMetas(data []byte) {
	for _, at := range []int{0, pageSize} {
		m := data[at+pageHeader:]
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		order.PutUint64(m[metaSize-8:], sum.Sum64())
	}
}

// AwaitQueued waits until n calls wait for their turn.
func (l *Log) AwaitQueued(n int) {
	for {
		l.mu.Lock()
		got := l.queue.Waiting()
		l.mu.Unlock()
		if got == n {
			return
		}
		runtime.Gosched()
	}
}
