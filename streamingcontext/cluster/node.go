package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// A Node is this process among the drivers of a cluster.
type Node struct {
	dir    string
	opts   Options
	log    *raftlog.Log
	links  *link.Link          // nil: nobody reaches it
	copies *blockcopies.Copies // the same
	pages  *pages              // nil: nobody is answered over HTTP
	state  state
	told   told
}

// Open opens the folder of a driver, which one process has at a time, and starts its share of the replicated log. It does not wait for others.
//
//	dir/raft      the replicated log
//	dir/copies    received blocks of this driver and others
//	dir/received  received blocks of a driver that nobody reaches
//
// Errors: *raftlog.LockedError naming the process that has the folder; those of raftlog.Open, link.Listen and blockcopies.New.
func Open(dir string, opts Options) (*Node, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	n := &Node{dir: dir, opts: opts.withDefaults()}
	if err := n.open(); err != nil {
		return nil, fmt.Errorf("open driver %s: %w", n.opts.Name, errors.Join(err, n.Close()))
	}
	return n, nil
}

func (n *Node) open() error {
	o := raftlog.Options{Name: n.opts.Name, Bootstrap: n.opts.Bootstrap, Timeouts: n.opts.Timeouts,
		SnapshotEvery: n.opts.SnapshotEvery, Trailing: n.opts.Trailing, Stall: n.opts.Stall, MinFree: n.opts.MinFree, Logger: n.opts.Logger,
		Listener: n.told.listener()}
	var log atomic.Pointer[raftlog.Log] // whom the links ask for the cluster
	if n.opts.Listen != "" {
		id, err := raftlog.Identify(filepath.Join(n.dir, "raft"), n.opts.Name)
		if err != nil {
			return err
		}
		n.links, err = link.Listen(link.Options{Address: n.opts.Listen, Name: n.opts.Name, ID: id, Build: n.opts.Build, TLS: n.opts.TLS, Network: n.opts.Network, Logger: n.opts.Logger,
			Cluster: func() string {
				if l := log.Load(); l != nil {
					return l.Cluster()
				}
				return ""
			}})
		if err != nil {
			return err
		}
		o.Network, o.Address = n.links.Protocol("raft"), n.opts.Advertise
		if o.Address == "" {
			o.Address = n.links.Addr().String()
		}
	}
	var err error
	if n.log, err = raftlog.Open(filepath.Join(n.dir, "raft"), o); err != nil {
		return err
	}
	log.Store(n.log)
	if n.opts.HTTP != "" {
		if n.pages, err = n.listenPages(n.opts.HTTP, n.opts.TLS); err != nil {
			return err
		}
	}
	if n.links == nil {
		return nil
	}
	if s := n.log.Status(); len(s.Members) == 0 && !n.opts.Bootstrap {
		n.opts.Logger.Info("driver waits until a cluster takes it in, see leat cluster join", "id", s.ID, "address", n.Addr())
	}
	n.copies, err = blockcopies.New(n.links.Protocol("blocks"), filepath.Join(n.dir, "copies"), blockcopies.Options{ID: n.log.ID(),
		Copies: n.opts.Copies, Members: n.members, Logger: n.opts.Logger})
	return err
}

// members are the drivers that may have copies.
func (n *Node) members() []blockcopies.Member {
	var all []blockcopies.Member
	for _, m := range n.log.Members() {
		all = append(all, blockcopies.Member{ID: m.ID, Address: m.Address})
	}
	return all
}

// Log returns the replicated log, for [driverlog.SetStatus], for changes of the members and for what it knows.
func (n *Node) Log() *raftlog.Log { return n.log }

// Addr returns the address that the node listens on, "" if it does not.
func (n *Node) Addr() string {
	if n.links == nil {
		return ""
	}
	return n.links.Addr().String()
}

// Build returns what program the node says it is.
func (n *Node) Build() string {
	if n.links == nil {
		return n.opts.Build
	}
	return n.links.Build()
}

// asked returns the node as others ask it.
func (n *Node) asked() admin.Node { return admin.Of(n.log, n.Build()) }

// HTTPAddr returns the address of health, status and metrics, "" without Options.HTTP.
func (n *Node) HTTPAddr() string {
	if n.pages == nil {
		return ""
	}
	return n.pages.Addr().String()
}

// Close gives up the folder and the port. Drive has returned, or returns an error. It may be called again.
//
// Time: a node whose disk hangs takes up to raftlog.Options.Stall and some seconds.
// Errors: those of the parts; ErrLeftBehind, and *raftlog.PoisonError, for what waits for the disk still.
func (n *Node) Close() error {
	var errs []error
	if n.pages != nil {
		errs = append(errs, n.pages.close())
	}
	if n.copies != nil {
		var err error
		if left := n.ended("close copies of blocks", func() { err = n.copies.Close() }); left != nil {
			errs = append(errs, left)
		} else {
			errs = append(errs, err)
		}
	}
	if n.log != nil {
		errs = append(errs, n.log.Close())
	}
	if n.links != nil {
		errs = append(errs, n.links.Close())
	}
	return errors.Join(errs...)
}
