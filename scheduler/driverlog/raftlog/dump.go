package raftlog

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// An Entry is an entry of a node's log. Whether most voters have it cannot be told from one folder.
type Entry struct {
	Index    uint64 // raft's
	Term     uint64 // of the leader that appended it
	Kind     EntryKind
	Commands []driverlog.Command // of a CommandsEntry
	Members  []Member            // of a change of the members, whose Kind is 0; so is that of entries that say nothing
	Digest   Digest              // of a DigestEntry
}

// Info is what a node's folder holds.
type Info struct {
	ID, Name, Cluster string
	Term              uint64   // raft's, the last that the node has heard of
	Snapshot          uint64   // raft's index of the newest snapshot that can be read, 0 without one
	Snapshots         int      // how many can be read
	First, Last       uint64   // raft's indexes of the entries in the log, 0 without any
	Applied           uint64   // entries of commands up to Last, counted from the cluster's beginning
	Members           []Member // as of Last
	State             driverlog.State
	// Damaged says what is wrong and harmless: a snapshot that nobody needs. Nil is nothing.
	Damaged error
}

// Dump returns what the node's folder holds, after calling yield with every entry of its log in order, those that the snapshot
// holds too among them. The state is what the entries come to if all of them are decided.
//
// Nobody may be using the folder.
//
// Errors: as Verify's; yield's error.
func Dump(dir string, yield func(Entry) error) (Info, error) { return inspect(dir, yield) }

// Verify returns what the node's folder holds, after reading all of it and checking every checksum, that no entry is missing and that
// every entry can be applied.
//
// Errors: *LockedError naming the owner; *CorruptError; *IdentityError; an os.ErrNotExist if there is no node.
func Verify(dir string) (Info, error) { return inspect(dir, func(Entry) error { return nil }) }

func inspect(dir string, yield func(Entry) error) (info Info, err error) {
	id, err := readIdentity(dir)
	if err != nil {
		return Info{}, err
	}
	lock, err := filelock.Take(lockPath(dir), dir, 0)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	d, err := openDisk(dir, true)
	if err != nil {
		return Info{}, &CorruptError{Dir: dbPath(dir), What: "it cannot be opened", Err: err}
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	snaps, err := openSnapshots(dir, nil, newHclogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return Info{}, err
	}
	info, _, err = read(dir, id, d, snaps, yield)
	return info, err
}

// read reads all that a folder holds.
func read(dir string, id identity, d disk, snaps *snapshots, yield func(Entry) error) (info Info, m *machine, err error) {
	if err := guard(dir, func() error { return belongs(d, dir, id.ID) }); err != nil {
		return Info{}, nil, err
	}
	if err := walk(dir, d); err != nil { // so that nothing is yielded of a damaged file
		return Info{}, nil, err
	}
	name, _ := nameOf(id.ID)
	info = Info{ID: id.ID, Name: name, Cluster: id.Cluster}
	m = &machine{dir: dir, every: digestEvery}
	if info.Term, err = d.GetUint64([]byte("CurrentTerm")); err != nil && err.Error() != raftNotFound {
		return Info{}, nil, err
	}
	if err := info.readSnapshots(m, snaps); err != nil {
		return Info{}, nil, err
	}
	first, err := d.FirstIndex()
	last, err2 := d.LastIndex()
	if err := errors.Join(err, err2); err != nil {
		return Info{}, nil, err
	}
	info.First, info.Last = first, last
	if first > info.Snapshot+1 {
		return Info{}, nil, &CorruptError{Dir: dir, Entry: info.Snapshot + 1, What: fmt.Sprintf("it is missing, entries begin at %d", first)}
	}
	for index := first; index > 0 && index <= last; index++ {
		var log raft.Log
		if err := d.GetLog(index, &log); err != nil {
			return Info{}, nil, &CorruptError{Dir: dir, Entry: index, What: "it cannot be read", Err: err}
		}
		e, err := decodeEntry(&log)
		if err != nil {
			return Info{}, nil, &CorruptError{Dir: dir, Entry: index, What: "it does not decode", Err: err}
		}
		if index > info.Snapshot {
			if e.Members != nil {
				info.Members = e.Members
			}
			if log.Type == raft.LogCommand {
				if a := m.apply(&log); a.err != nil {
					return Info{}, nil, a.err
				}
			}
		}
		if err := yield(e); err != nil {
			return Info{}, nil, err
		}
	}
	if m.cluster != (clusterID{}) {
		if id.Cluster != "" && id.Cluster != m.cluster.String() {
			return Info{}, nil, &IdentityError{Path: identityPath(dir), Reason: fmt.Sprintf("names cluster %s, the log is of %s", id.Cluster, m.cluster)}
		}
		info.Cluster = m.cluster.String()
	}
	info.State, info.Applied = m.copyState(), m.applied
	return info, m, nil
}

// readSnapshots reads every snapshot, and the newest that can be read into m.
func (i *Info) readSnapshots(m *machine, snaps *snapshots) error {
	list, err := snaps.List()
	if err != nil {
		return fmt.Errorf("read driver log snapshots: %w", err)
	}
	for _, meta := range list { // the newest comes first
		img, err := snaps.verify(meta.ID)
		if err != nil {
			i.Damaged = errors.Join(i.Damaged, err)
			continue
		}
		if i.Snapshots == 0 {
			m.state, m.cluster, m.index, m.applied = img.state, img.cluster, img.index, img.applied
			i.Snapshot, i.Members = meta.Index, membersOf(meta.Configuration)
		}
		i.Snapshots++
	}
	if i.Snapshots == 0 && len(list) > 0 {
		return i.Damaged
	}
	return nil
}

// decodeEntry returns what an entry says.
func decodeEntry(log *raft.Log) (Entry, error) {
	e := Entry{Index: log.Index, Term: log.Term}
	switch log.Type {
	case raft.LogConfiguration:
		if !decodes(log.Data) {
			return e, errors.New("configuration")
		}
		e.Members = membersOf(raft.DecodeConfiguration(log.Data))
		return e, nil
	case raft.LogCommand:
	default:
		return e, nil
	}
	env, err := decodeEnvelope(log.Data)
	if err != nil {
		return e, err
	}
	e.Kind = env.kind
	switch env.kind {
	case CommandsEntry:
		e.Commands, err = decodeCommands(env.payload)
	case DigestEntry:
		var p point
		p, err = decodePoint(env.payload)
		e.Digest = p.digest
	}
	return e, err
}
