package failover

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext"
)

// A process is a driver with its node.
type process struct {
	c     *cluster
	name  string
	dir   string // of the node's log
	build build
	disk  disk
	port  *port
	links *link.Link
	log   *raftlog.Log

	serving sync.WaitGroup // links.Run
	watches sync.WaitGroup // of terms
	cancel  context.CancelFunc
	ended   chan struct{} // closed when Drive has returned
	err     error         // belongs to ended
	buried  chan struct{} // closed when a process that is lost may end

	// Guarded by c.mu.
	lost      bool
	closed    bool
	gate      chan struct{}  // closed when it goes on; nil unless it stands still
	untold    chan struct{}  // closed when it is told that its term is over; nil unless that is kept from it
	forgetful bool           // the next answer of the log gets lost
	late      time.Duration  // the next command gets to the log that much after it is given up, unless 0
	ahead     func()         // proposes a command that is late; nil if none is
	aheadOf   driverlog.Kind // of that
	stands    int            // how often it stood by
	epoch     uint64
	told      chan struct{} // of that epoch: the Lost that it was given
	over      time.Time     // when it was told of the end of that epoch
	reason    error         // why the last term ended
}

// open opens a node.
func (c *cluster) open(name, dir string, first bool) *process {
	c.t.Helper()
	p := &process{c: c, name: name, dir: dir, build: c.builds[name], port: c.fabric.attach(name), buried: make(chan struct{})}
	id, err := raftlog.Identify(dir, name)
	if err != nil {
		c.t.Fatal(err)
	}
	known := make(chan *raftlog.Log, 1)
	p.links, err = link.Listen(link.Options{Name: name, ID: id, Address: name, Network: p.port, Cluster: func() string {
		l := <-known
		known <- l
		return l.Cluster()
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	opts := c.raft
	opts.Name, opts.Address, opts.Network, opts.Bootstrap = name, name, p.links.Protocol("raft"), first
	opts.Disk = p.disk.pass
	if p.log, err = raftlog.Open(dir, opts); err != nil {
		c.t.Fatal(err)
	}
	known <- p.log
	p.serving.Go(func() {
		err := p.links.Run(context.Background())
		c.mu.Lock()
		lost := p.lost
		c.mu.Unlock()
		if err != nil && !lost {
			c.t.Errorf("links of %s end with %v", name, err)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[name] = p
	return p
}

// drive starts the driver of a node.
func (p *process) drive() {
	c := p.c
	store, err := folder.Open(c.blobs(), folder.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	p.cancel, p.ended = cancel, make(chan struct{})
	opts := streamingcontext.Options{App: "app", Interval: interval, Cluster: seat{p.log, p}, Store: gatedStore{store, p},
		EngineOptions: streamingcontext.EngineOptions{Cores: 2, Dir: filepath.Join(c.dir, "tmp")},
		DriverListener: streamingcontext.DriverListener{
			StandingBy: func() { c.note(func() { p.stands++ }) },
			StoodDown:  func(_ uint64, reason error) { c.note(func() { p.reason = reason }) },
		}}
	go func() {
		defer close(p.ended)
		p.err = streamingcontext.Drive(ctx, "", opts, p.declare)
		c.note(func() {})
	}()
}

// close closes the node.
func (p *process) close() {
	if err := p.end(); err != nil {
		p.c.t.Errorf("close %s: %v", p.name, err)
	}
}

// end is close that returns the log's error.
func (p *process) end() error {
	p.c.note(func() { p.closed = true })
	failed := p.log.Close()
	if err := p.links.Close(); err != nil {
		p.c.t.Errorf("close links of %s: %v", p.name, err)
	}
	p.serving.Wait()
	p.watches.Wait()
	return failed
}

// stop ends a driver as planned.
func (p *process) stop() {
	p.c.t.Helper()
	p.cancel()
	<-p.ended
	if p.err != nil {
		p.c.t.Errorf("%s ends with %v", p.name, p.err)
	}
}

// standStill lets the process do nothing until goOn.
func (p *process) standStill() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.gate = make(chan struct{})
}

func (p *process) goOn() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// keepFrom keeps from the driver that its term is over, until tell.
func (p *process) keepFrom() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.untold = make(chan struct{})
}

func (p *process) tell() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.untold != nil {
		close(p.untold)
		p.untold = nil
	}
}
