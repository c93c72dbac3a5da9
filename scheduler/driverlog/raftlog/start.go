package raftlog

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// start starts raft and the goroutines beside it.
func (l *Log) start() (err error) {
	logger := newHclogger(l.opts.Logger)
	snaps, err := openSnapshots(l.dir, l.readable, logger)
	if err != nil {
		return err
	}
	snaps.failed, snaps.written = l.unreadable, l.snapped
	snaps.stall, snaps.stalled = l.opts.Stall, l.fail
	if err := l.whole(snaps); err != nil {
		return err
	}
	address := raft.ServerAddress(l.opts.Address)
	var trans raft.Transport
	if l.opts.Network != nil {
		l.net = newTransport(l.opts.Network, l.opts.Address, l.opts.Timeouts, l.logger, logger)
		trans, l.trans = l.net, l.net
		defer func() {
			if err != nil {
				err = errors.Join(err, l.net.Close())
			}
		}()
	} else {
		address = raft.ServerAddress("local:" + l.id)
		_, inmem := raft.NewInmemTransport(address)
		trans, l.trans = inmem, inmem
	}
	conf := l.config(logger)
	if err := l.bootstrap(conf, snaps, trans, address); err != nil {
		return err
	}
	l.store.running.Store(true)
	l.raft, err = newRaft(conf, l.fsm, l.store, snaps, trans)
	if err != nil {
		l.store.running.Store(false)
		return &CorruptError{Dir: l.dir, What: "it cannot be started from", Err: err}
	}
	l.down = sync.OnceValue(l.raft.Shutdown)
	if err := l.startable(); err != nil {
		return errors.Join(err, l.down().Error())
	}
	l.fsm.live.Store(true)
	l.mu.Lock()
	l.live = true
	l.mu.Unlock()
	observed := make(chan raft.Observation, 64)
	observer := raft.NewObserver(observed, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	l.raft.RegisterObserver(observer)
	l.tasks.Go(l.record)
	l.tasks.Go(func() { l.watch(observed) })
	l.tasks.Go(l.housekeep)
	l.tasks.Go(l.watchSpace)
	l.tasks.Go(func() { l.events.run(l.quit) })
	if l.net != nil {
		l.net.start()
	}
	return nil
}

// startable tells whether what raft has read of the folder can be gone on from.
func (l *Log) startable() error {
	l.mu.Lock()
	skipped := l.skipped
	l.mu.Unlock()
	var version *driverlog.VersionError
	if errors.As(skipped, &version) {
		return skipped // an older snapshot would do, but the entries behind it are of a later version too
	}
	if n := l.voters(); l.net == nil && n > 1 {
		return fmt.Errorf("the cluster has %d voters, which cannot be reached without a network", n)
	}
	return nil
}

func (l *Log) config(logger *hclogger) *raft.Config {
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(l.id)
	conf.HeartbeatTimeout = l.opts.Timeouts.Heartbeat
	conf.ElectionTimeout = l.opts.Timeouts.Election
	conf.LeaderLeaseTimeout = l.opts.Timeouts.Lease
	conf.CommitTimeout = max(time.Millisecond, min(conf.CommitTimeout, l.opts.Timeouts.Heartbeat/10))
	conf.BatchApplyCh = false // it would take commands that nobody has agreed to append
	conf.ShutdownOnRemove = true
	conf.SnapshotThreshold = l.opts.SnapshotEvery
	conf.SnapshotInterval = time.Minute
	conf.TrailingLogs = l.opts.Trailing
	conf.NotifyCh = l.notify
	conf.Logger = logger
	conf.NoLegacyTelemetry = true
	return conf
}

// whole tells whether the parts of the folder belong together.
func (l *Log) whole(snaps *snapshots) error {
	list, err := snaps.List()
	if err != nil {
		return err
	}
	term, err := l.store.GetUint64([]byte("CurrentTerm"))
	if err != nil && err.Error() != raftNotFound {
		return err
	}
	switch {
	case term == 0 && len(list) > 0:
		// Terms would begin anew, and the newest snapshots would be taken for the oldest.
		return &CorruptError{Dir: l.dir, What: "there are snapshots, and the log is empty"}
	case term == 0 && l.identity.Cluster != "":
		return &IdentityError{Path: identityPath(l.dir), Reason: "names a cluster, and the log is empty"}
	case term == 0:
		return l.store.Set(nodeKey, []byte(l.id))
	}
	if err := belongs(l.store, l.dir, l.id); err != nil {
		return err
	}
	// A node whose disk takes no writes is to say so now, and not when it is to vote.
	return l.store.Set(nodeKey, []byte(l.id))
}

// nodeKey is where a node's id lies beside its term and vote: two nodes must not vote under one name.
var nodeKey = []byte("leat.node")

// belongs returns an error unless the votes in a store are those of the node called id.
func belongs(votes raft.StableStore, dir, id string) error {
	have, err := votes.Get(nodeKey)
	switch {
	case err != nil && err.Error() != raftNotFound:
		return err
	case string(have) != id:
		return &IdentityError{Path: identityPath(dir), Reason: fmt.Sprintf("is %s, the log is that of %q", id, have)}
	}
	return nil
}

const raftNotFound = "not found" // the text by which raft knows a missing key

// bootstrap makes a new cluster of an empty folder.
func (l *Log) bootstrap(conf *raft.Config, snaps raft.SnapshotStore, trans raft.Transport, address raft.ServerAddress) error {
	if !l.opts.Bootstrap {
		return nil
	}
	old, err := raft.HasExistingState(l.store, l.store, snaps)
	if err != nil || old {
		return err
	}
	servers := []raft.Server{{Suffrage: raft.Voter, ID: conf.LocalID, Address: address}}
	return raft.BootstrapCluster(conf, l.store, l.store, snaps, trans, raft.Configuration{Servers: servers})
}

// newRaft starts raft. It panics where entries are missing behind the snapshot that could be read.
func newRaft(conf *raft.Config, fsm raft.FSM, s *store, snaps raft.SnapshotStore, trans raft.Transport) (r *raft.Raft, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("entries are missing or do not decode: %v", p)
		}
	}()
	cache, err := raft.NewLogCache(512, s)
	if err != nil {
		return nil, err
	}
	return raft.NewRaft(conf, fsm, cache, s, snaps, trans)
}
