package raftlog

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// learned is told of the cluster's id, by the goroutine that applies.
func (l *Log) learned(c clusterID) {
	l.mu.Lock()
	wrong := l.identity.Cluster != "" && l.identity.Cluster != c.String()
	if !wrong {
		l.cluster = c
	}
	l.tell()
	l.mu.Unlock()
	if wrong {
		l.fail(&IdentityError{Path: identityPath(l.dir), Reason: fmt.Sprintf("names cluster %s, the log is of %s", l.identity.Cluster, c)})
		return
	}
	select {
	case l.joined <- c:
	default: // it is the same
	}
}

// count counts entries up to the next snapshot.
func (l *Log) count(n int) {
	l.mu.Lock()
	l.entries += uint64(n)
	due := l.entries >= l.opts.SnapshotEvery
	if due {
		l.entries = 0
	}
	l.mu.Unlock()
	if due {
		select {
		case l.enough <- struct{}{}:
		default: // one is due already
		}
	}
}

// compare has the digest of the leader's state compared by the others.
func (l *Log) compare(p point) {
	select {
	case <-l.points: // it was not proposed in time
	default:
	}
	select {
	case l.points <- p:
	default:
	}
}

// configured is told of members that have been agreed on.
func (l *Log) configured(c raft.Configuration) {
	members := membersOf(c)
	l.logger.Info("driver log members", "members", len(members))
	l.events.add(func(t *Listener) {
		if t.MembersChanged != nil {
			t.MembersChanged(members)
		}
	})
}

// snapped is told of a snapshot that is durable and can be read.
func (l *Log) snapped(index uint64) {
	l.logger.Debug("driver log snapshot", "index", index)
	l.events.add(func(t *Listener) {
		if t.SnapshotTaken != nil {
			t.SnapshotTaken(index)
		}
	})
}

// housekeep does what takes time and nobody waits for.
func (l *Log) housekeep() {
	poisoned := l.poisoned
	for {
		l.mu.Lock()
		changed, leads, named := l.changed, l.role.leads, l.cluster != (clusterID{})
		l.mu.Unlock()
		if leads {
			l.settle(named)
		}
		select {
		case <-l.quit:
			return
		case <-poisoned:
			// Nothing leaves the node any more: what it would say may not be on its disk. A leader that reaches nobody gives
			// up, and answers the calls that wait.
			_ = l.trans.Close()
			within(time.After(2*l.opts.Timeouts.Lease+time.Second), l.calls.Wait)
			l.down() // not waited for: it may be waiting for the disk
			poisoned = nil
		case <-changed:
		case c := <-l.joined:
			l.adopt(c)
		case p := <-l.points:
			if leads {
				l.propagate(p)
			}
		case <-l.enough:
			ctx, cancel := context.WithTimeout(l.ctx, time.Minute)
			if err := l.Snapshot(ctx); err != nil && l.ctx.Err() == nil {
				l.logger.Warn("driver log snapshot not taken", "error", err)
			}
			cancel()
		}
	}
}

// settle does what a new leader has to do: give a new cluster its id, and tell members of its own address.
func (l *Log) settle(named bool) {
	ctx, cancel := context.WithTimeout(l.ctx, startBound)
	defer cancel()
	if !named {
		_, _ = l.known(ctx) // whoever needs the id makes it, if this did not
	}
	address := l.address()
	for _, s := range l.raft.GetConfiguration().Configuration().Servers {
		if s.ID != raft.ServerID(l.id) || s.Address == address || s.Suffrage != raft.Voter {
			continue
		}
		_, err := l.decide(ctx, func() (*answer, error) {
			return nil, l.raft.AddVoter(s.ID, address, 0, enqueueBound).Error()
		})
		if err != nil && l.ctx.Err() == nil {
			l.logger.Warn("own address not changed", "from", string(s.Address), "to", string(address), "error", err)
		}
	}
}

// address returns what others dial.
func (l *Log) address() raft.ServerAddress {
	if l.opts.Network == nil {
		return raft.ServerAddress("local:" + l.id)
	}
	return raft.ServerAddress(l.opts.Address)
}

// adopt writes the cluster's id into the identity file.
func (l *Log) adopt(c clusterID) {
	l.mu.Lock()
	id := l.identity
	l.mu.Unlock()
	if id.Cluster == c.String() {
		return
	}
	id.Cluster = c.String()
	written := make(chan error, 1)
	go func() { written <- id.write(l.dir) }() // ends with the write, which leaves what is there or the same
	timer := time.NewTimer(l.opts.Stall)
	defer timer.Stop()
	var err error
	select {
	case err = <-written:
	case <-timer.C:
		err = &StallError{After: l.opts.Stall}
	case <-l.poisoned:
		return // the disk hangs here too, perhaps, and whoever waits for this node is not to
	}
	if err != nil {
		l.fail(&PoisonError{Dir: l.dir, Op: "write identity", Err: err})
		return
	}
	l.mu.Lock()
	l.identity = id
	l.mu.Unlock()
}

// propagate proposes the digest of this leader's state.
func (l *Log) propagate(p point) {
	ctx, cancel := context.WithTimeout(l.ctx, startBound)
	defer cancel()
	cluster, err := l.known(ctx)
	if err == nil {
		_, err = l.append(ctx, envelope{kind: DigestEntry, cluster: cluster, payload: p.append(nil)})
	}
	if err != nil && l.ctx.Err() == nil {
		l.logger.Debug("driver log digest not compared", "error", err)
	}
}
