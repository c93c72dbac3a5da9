package cluster

import (
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/metrics"
)

// told is what a node has been told since it was opened.
type told struct {
	commits   metrics.Durations
	undecided atomic.Uint64
	leaders   atomic.Uint64
	snapshots atomic.Uint64
	lag       lag
}

// listener returns what hears of the replicated log.
func (t *told) listener() *raftlog.Listener {
	return &raftlog.Listener{
		LeaderChanged: func(leader raftlog.Member) {
			if leader.ID != "" {
				t.leaders.Add(1)
			}
		},
		SnapshotTaken: func(uint64) { t.snapshots.Add(1) },
	}
}

// lag is how long decided entries have been waiting to be applied, as those see it who look now and then.
type lag struct {
	mu     sync.Mutex
	target uint64    // that was decided at since, and waited for
	since  time.Time // the first look at which it was
}

// look returns how long an entry has been waiting.
func (l *lag) look(committed, applied uint64, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if applied >= l.target {
		l.target, l.since = committed, now // what is waited for from here on
	}
	if applied >= committed {
		return 0
	}
	return now.Sub(l.since)
}

// Measures returns what /metrics tells of the node, for a registry of the program's own: metrics.NewDriver(node.Measures).
//
// Cost: a copy of the log's state, as Status; a look at the folder.
func (n *Node) Measures() metrics.Driver {
	s, raw, now := n.Status(), n.log.Status(), time.Now()
	d := metrics.Driver{
		ID: s.ID, Cluster: s.Cluster, App: s.App, Does: s.Does, Healthy: s.healthy(), Ready: s.ready(),
		Leads: s.Role == admin.Leader, LeaderKnown: s.Leader.ID != "", Poisoned: s.Poisoned != "",
		Term: s.Term, Epoch: s.Epoch, Committed: raw.Committed, Applied: raw.Committed - raw.Lag,
		ApplyLag:    n.told.lag.look(raw.Committed, raw.Committed-raw.Lag, now),
		LastContact: s.LastContact, LeaderChanges: n.told.leaders.Load(), Members: len(s.Members),
		Batch: s.Batch, BatchTime: s.BatchTime, Now: now.UnixMilli(), Open: s.Open,
		Commits: &n.told.commits, Undecided: n.told.undecided.Load(),
		Snapshots: n.told.snapshots.Load(), SnapshotBytes: bytesBelow(filepath.Join(n.dir, "raft", "snapshots")),
		LogBytes: bytesBelow(filepath.Join(n.dir, "raft", "raft.db")), FreeBytes: raw.Free, LowSpace: raw.LowSpace,
	}
	for _, m := range s.Members {
		if m.Voter {
			d.Voters++
		}
	}
	if n.copies != nil {
		b := n.copies.Status()
		d.Blocks = &metrics.Blocks{Segments: b.Segments, Bytes: b.Bytes, Waiting: b.Waiting}
		for _, to := range b.Drivers {
			d.Blocks.Copies = append(d.Blocks.Copies, metrics.Copy{Driver: to.ID, Connected: to.Connected, Behind: to.Behind})
		}
	}
	return d
}

// bytesBelow returns the bytes of a file, or of the files of a folder. What goes away meanwhile, or cannot be looked at, has none.
func bytesBelow(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// follow makes Options.Progress hear of what Drive does, until the function that it returns is called.
func (n *Node) follow(opts *streamingcontext.Options) (stop func()) {
	store := n.opts.Progress
	if store == nil {
		return func() {}
	}
	opts.Listeners = slices.Concat(opts.Listeners, []streamingcontext.Listener{store.Listener()})
	jobs := store.SchedulerListener()
	if opts.Engine != nil {
		opts.Engine.AddListener(&jobs)
		return func() { opts.Engine.RemoveListener(&jobs) }
	}
	opts.EngineOptions.SchedulerListeners = slices.Concat(opts.EngineOptions.SchedulerListeners, []scheduler.Listener{jobs})
	return func() {}
}
