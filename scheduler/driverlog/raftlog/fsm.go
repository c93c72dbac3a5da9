package raftlog

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// digestEvery is the number of entries of commands between two digests of the state.
const digestEvery = 1024

// remembered is the number of digests that a replica keeps to compare with the leader's.
const remembered = 8

// A machine is the state machine that raft feeds. What it holds follows from the entries alone; what it tells others does not
// come back.
type machine struct {
	dir   string
	every uint64 // entries of commands between digests
	hooks hooks
	live  atomic.Bool // raft has started: a snapshot that cannot be read is not followed by an older one any more

	mu      sync.Mutex // guards the fields below; nothing is locked under it
	state   driverlog.State
	cluster clusterID
	index   uint64 // raft index of the last entry
	applied uint64 // entries of commands
	points  []point
	broken  error // an entry could not be applied, or a snapshot not be read: nothing is applied any more
}

// hooks are called by the goroutine that applies, without the lock. They must not block. Those that are nil are not called.
type hooks struct {
	cluster  func(clusterID)          // the id of the cluster is known
	epoch    func(epoch uint64)       // a LeaderStart has been applied, or a snapshot taken over
	entries  func(n int)              // n entries have been applied
	recorded func(point)              // a digest has been taken
	members  func(raft.Configuration) // a configuration has been committed
	broken   func(error)              // the machine has stopped
	unread   func(error)              // a snapshot could not be read
}

// An answer is what an entry of commands came to.
type answer struct {
	results []driverlog.Result
	refused error // of the command behind the results
	err     error // the machine has stopped
}

var _ raft.BatchingFSM = (*machine)(nil)

// ApplyBatch applies entries in order.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	answers := make([]any, len(logs))
	for i, log := range logs {
		if log.Type == raft.LogConfiguration {
			if m.hooks.members != nil {
				m.hooks.members(raft.DecodeConfiguration(log.Data))
			}
			continue
		}
		answers[i] = m.apply(log)
	}
	if m.hooks.entries != nil {
		m.hooks.entries(len(logs))
	}
	return answers
}

// Apply applies an entry.
func (m *machine) Apply(log *raft.Log) any { return m.apply(log) }

// apply applies an entry and tells what came of it.
func (m *machine) apply(log *raft.Log) *answer {
	m.mu.Lock()
	if m.broken != nil {
		err := m.broken
		m.mu.Unlock()
		return &answer{err: err}
	}
	before, points := m.state.Epoch, len(m.points)
	known := m.cluster
	var taken uint64
	if points > 0 {
		taken = m.points[points-1].applied
	}
	a, err := m.step(log)
	if err != nil {
		m.broken = err
		a = &answer{err: err}
	}
	epoch, cluster := m.state.Epoch, m.cluster
	var last point
	if len(m.points) > 0 {
		last = m.points[len(m.points)-1]
	}
	m.mu.Unlock()

	switch {
	case err != nil:
		if m.hooks.broken != nil {
			m.hooks.broken(err)
		}
		return a
	case cluster != known && m.hooks.cluster != nil:
		m.hooks.cluster(cluster)
	}
	if epoch != before && m.hooks.epoch != nil {
		m.hooks.epoch(epoch)
	}
	if last.applied > taken && m.hooks.recorded != nil {
		m.hooks.recorded(last)
	}
	return a
}

// step applies an entry, with m.mu held. An entry that does not decode is never skipped: the replicas that can read it would hold
// another state.
func (m *machine) step(log *raft.Log) (*answer, error) {
	bad := func(what string, err error) (*answer, error) {
		return nil, &CorruptError{Dir: m.dir, Entry: log.Index, What: what, Err: err}
	}
	if log.Index <= m.index {
		return bad(fmt.Sprintf("it follows entry %d", m.index), nil)
	}
	e, err := decodeEnvelope(log.Data)
	if err != nil {
		return bad("it does not decode", err)
	}
	if e.kind != ClusterEntry && e.cluster != m.cluster {
		return bad(fmt.Sprintf("it is of cluster %s, not of %s", e.cluster, m.cluster), nil)
	}
	m.index = log.Index
	switch e.kind {
	case ClusterEntry:
		if m.cluster == (clusterID{}) { // the first counts, where several were proposed
			m.cluster = e.cluster
		}
	case CommandsEntry:
		cmds, err := decodeCommands(e.payload)
		if err != nil {
			return bad("its commands do not decode", err)
		}
		a := &answer{results: make([]driverlog.Result, 0, len(cmds))}
		for _, cmd := range cmds {
			res, err := driverlog.Step(&m.state, m.state.Index+1, cmd)
			if err != nil {
				a.refused = err
				break
			}
			a.results = append(a.results, res)
		}
		m.applied++
		if m.applied%m.every == 0 {
			m.record(point{applied: m.applied, digest: m.state.Digest()})
		}
		return a, nil
	case DigestEntry:
		p, err := decodePoint(e.payload)
		if err != nil {
			return bad("its digest does not decode", err)
		}
		for _, own := range m.points {
			if own.applied == p.applied && own.digest != p.digest {
				return nil, &DivergedError{Applied: p.applied, Have: own.digest, Want: p.digest}
			}
		}
	}
	return &answer{}, nil
}

func (m *machine) record(p point) {
	if len(m.points) == remembered {
		m.points = m.points[:copy(m.points, m.points[1:])]
	}
	m.points = append(m.points, p)
}

// Snapshot captures the state. It copies it, and encodes nothing.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, m.broken
	}
	return &capture{image{cluster: m.cluster, index: m.index, applied: m.applied, state: m.state.Clone()}}, nil
}

// Restore takes the state of a snapshot in the place of its own, which is gone whatever happens. The stream is read to its end,
// whatever is in it: a rest would be taken for the next message.
func (m *machine) Restore(r io.ReadCloser) error {
	img, err := readImage(r)
	if _, drain := io.Copy(io.Discard, r); err == nil && drain != nil {
		err = drain
	}
	m.mu.Lock()
	if err == nil && m.cluster != (clusterID{}) && img.cluster != m.cluster {
		err = fmt.Errorf("it is of cluster %s, not of %s", img.cluster, m.cluster)
	}
	if err != nil {
		err = &CorruptError{Dir: m.dir, What: "snapshot", Err: err}
		m.state, m.index, m.applied, m.points = driverlog.State{}, 0, 0, nil
		live := m.live.Load()
		if m.broken == nil && live {
			m.broken = err
		}
		m.mu.Unlock()
		if m.hooks.unread != nil {
			m.hooks.unread(err)
		}
		return err
	}
	known := m.cluster
	m.state, m.cluster, m.index, m.applied, m.points = img.state, img.cluster, img.index, img.applied, nil
	epoch := m.state.Epoch
	m.mu.Unlock()
	if img.cluster != known && m.hooks.cluster != nil {
		m.hooks.cluster(img.cluster)
	}
	if m.hooks.epoch != nil {
		m.hooks.epoch(epoch)
	}
	return nil
}

// copyState returns a copy of the state.
func (m *machine) copyState() driverlog.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Clone()
}

// A capture is a state that a snapshot is made of.
type capture struct{ image image }

// Persist writes the snapshot.
func (c *capture) Persist(sink raft.SnapshotSink) error {
	if err := c.image.writeTo(sink); err != nil {
		return errors.Join(fmt.Errorf("write driver log snapshot: %w", err), sink.Cancel())
	}
	return sink.Close()
}

// Release does nothing: a capture is memory.
func (*capture) Release() {}
