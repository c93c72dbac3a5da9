package raftlog

import (
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Dir returns the folder of the node.
func (l *Log) Dir() string { return l.dir }

// Leads tells whether raft says that the node leads.
func (l *Log) Leads() bool { return l.raft.State() == raft.Leader }

// Bare appends bytes as an entry, as raft does without us.
func (l *Log) Bare(data []byte) error { return l.raft.Apply(data, 0).Error() }

// Still calls f with the folder of the node while nothing is written to its file.
func (l *Log) Still(f func(dir string)) {
	_ = l.store.write("hold still", func() error { f(l.dir); return nil })
}

// Quiet returns a logger for raft that nobody reads.
func Quiet() hclog.Logger { return newHclogger(slog.New(slog.DiscardHandler)) }

// Layer returns a network as raft wants it.
func Layer(n Network, address string) raft.StreamLayer {
	return &layer{Network: n, address: address, dial: time.Second, conns: make(map[*layerConn]struct{})}
}

// WithDigests returns options of a node that takes a digest every n entries.
func WithDigests(opts Options, n uint64) Options {
	opts.digests = n
	return opts
}

// WithSpace returns options of a node on a disk of which free says what is free, of total bytes.
func WithSpace(opts Options, total int64, free func() int64) Options {
	opts.freeSpace = func(string) (int64, int64, error) { return free(), total, nil }
	return opts
}

// A Fault stands between a store and its disk.
type Fault struct {
	disk
	mu   sync.Mutex
	err  error
	hang chan struct{}
	hung chan struct{}
}

// WithFault returns options of a node whose disk fails when f says so.
func WithFault(opts Options, f *Fault) Options {
	opts.wrap = func(d disk) disk { f.disk = d; return f }
	return opts
}

// Fail makes the next writes fail.
func (f *Fault) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Hang makes the next write hang until release is called; hung is closed when it does.
func (f *Fault) Hang() (release func(), hung <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	hang := make(chan struct{})
	f.hang, f.hung = hang, make(chan struct{})
	return func() { close(hang) }, f.hung
}

func (f *Fault) check() error {
	f.mu.Lock()
	hang, hung, err := f.hang, f.hung, f.err
	f.hang = nil
	f.mu.Unlock()
	if hang != nil {
		close(hung)
		<-hang
	}
	return err
}

// StoreLogs writes entries.
func (f *Fault) StoreLogs(logs []*raft.Log) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.disk.StoreLogs(logs)
}

// SetUint64 writes a number.
func (f *Fault) SetUint64(k []byte, v uint64) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.disk.SetUint64(k, v)
}
