package raftlog

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// Defaults of Options.
const (
	DefaultName          = "driver"
	DefaultStall         = 10 * time.Second
	DefaultSnapshotEvery = 4096
	DefaultTrailing      = 4096
)

// MaxName bounds the bytes of a node's name.
const MaxName = 64

// A Network connects the members of a cluster. Accepted connections come from members of the same cluster only: whoever
// implements it has checked them. Close ends Accept; it is called by the log. A dialled connection with a method PeerID() string, as those of package
// link have, says which node has answered: one that is not the member is not talked to, see StrangerError.
type Network interface {
	net.Listener
	// Dial returns a connection to the member at address. It is called from any goroutine and gives up after timeout.
	Dial(address string, timeout time.Duration) (net.Conn, error)
}

// Options says how a node is opened. The zero value is a cluster of one that nobody reaches.
type Options struct {
	// Name is the node's name: letters, digits, '-' and '.', at most 64. Empty means "driver". Terms are started under it.
	Name string
	// Bootstrap makes a new cluster of this node where the folder is empty; without it an empty folder waits to be joined by a leader.
	// It is taken for true where Network is nil.
	Bootstrap bool
	// Network connects the node with others. Nil means a cluster of one. It is closed with the log.
	Network Network
	// Address is what other members dial. Required with Network.
	Address string
	// Timeouts are those of the cluster, the same on all members. Zero means Single without Network and Default with one.
	Timeouts Timeouts
	// Stall is how long a write to the disk may take before the node is poisoned. Zero means 10 s.
	Stall time.Duration
	// SnapshotEvery is the number of entries after which a snapshot is taken. Zero means 4096.
	SnapshotEvery uint64
	// Trailing is the number of entries that stay behind a snapshot, for members that lag. Zero means 4096.
	Trailing uint64
	// MinFree is how many bytes must be free on the disk of the folder. With less the node does not lead: it hands leadership over, or, where nobody
	// takes it, waits for room; with less than a quarter of it the node stops, and is not opened. Zero means 64 MiB, or a twentieth of a disk that is
	// smaller than 20 times that. Less than zero means that nobody looks.
	MinFree int64
	// LockTimeout is how long Open waits for another owner of the folder. Zero means not at all.
	LockTimeout time.Duration
	// Logger gets an Info when the node is opened, one a term and one a change of leader or members; an Error for what stops the node; all
	// that raft says at Debug. Nil discards.
	Logger *slog.Logger
	// Listener is told of what happens. Nil is nobody.
	Listener *Listener

	// Disk, where it is not nil, is called for each write to the disk, one at a time, and passes it on by calling write: its error is that of
	// the write, which takes as long as it does. It is for tests of programs whose disks fail or hang.
	Disk func(write func() error) error

	// Of tests: what stands between a store and its disk, and the entries between digests.
	wrap      func(disk) disk
	digests   uint64
	freeSpace func(dir string) (free, total int64, err error)
}

// A Listener is told of what happens to a node, in order, by one goroutine. Functions that are nil are not called. A slow one delays the
// others and nothing else; a thousand events behind, events are dropped.
type Listener struct {
	LeaderChanged  func(leader Member) // zero where none is known
	TermStarted    func(epoch uint64)
	TermEnded      func(epoch uint64)
	Poisoned       func(err error)
	SnapshotTaken  func(index uint64)
	MembersChanged func(members []Member)
	SpaceChanged   func(free int64, low bool) // low: the node does not lead for want of room on its disk
	Missed         func(events int)           // that many were dropped after the last one; Status tells what is true now
}

// Timeouts say how fast the members of a cluster find out that their leader is gone.
type Timeouts struct {
	Heartbeat time.Duration // without word from a leader for this long, up to twice, a member stands for election
	Election  time.Duration // an election without result is repeated after this long
	Lease     time.Duration // a leader that reaches no majority for this long gives up
}

// Single returns the timeouts of a cluster of one: it leads within some 50 ms.
func Single() Timeouts {
	return Timeouts{Heartbeat: 20 * time.Millisecond, Election: 20 * time.Millisecond, Lease: 10 * time.Millisecond}
}

// Fast returns timeouts for members in one rack, with idle processors.
func Fast() Timeouts {
	return Timeouts{Heartbeat: 250 * time.Millisecond, Election: 250 * time.Millisecond, Lease: 125 * time.Millisecond}
}

// Default returns timeouts for members in one place.
func Default() Timeouts {
	return Timeouts{Heartbeat: 500 * time.Millisecond, Election: 500 * time.Millisecond, Lease: 250 * time.Millisecond}
}

// Wide returns timeouts for members in several places.
func Wide() Timeouts {
	return Timeouts{Heartbeat: time.Second, Election: time.Second, Lease: 500 * time.Millisecond}
}

// minTimeout is the shortest time that raft accepts.
const minTimeout = 5 * time.Millisecond

// Validate returns an error for options that Open would refuse.
func (o Options) Validate() error {
	o = o.withDefaults()
	if err := validName(o.Name); err != nil {
		return fmt.Errorf("raftlog: %w", err)
	}
	t := o.Timeouts
	switch {
	case o.Network != nil && o.Address == "":
		return errors.New("raftlog: a node with a network needs the address that others dial")
	case o.Network == nil && o.Address != "":
		return errors.New("raftlog: an address needs a network")
	case len(o.Address) > maxAddress:
		return fmt.Errorf("raftlog: address of %d bytes, at most %d are allowed", len(o.Address), maxAddress)
	case t.Heartbeat < minTimeout || t.Lease < minTimeout || t.Lease > t.Heartbeat || t.Election < t.Heartbeat:
		return fmt.Errorf("raftlog: timeouts heartbeat %s, election %s, lease %s: want %s <= lease <= heartbeat <= election",
			t.Heartbeat, t.Election, t.Lease, minTimeout)
	case o.Stall < 0 || o.LockTimeout < 0:
		return fmt.Errorf("raftlog: stall %s, lock timeout %s", o.Stall, o.LockTimeout)
	case o.MinFree > maxMinFree:
		return fmt.Errorf("raftlog: %d bytes are to be free, no disk has as many", o.MinFree)
	}
	return nil
}

// maxMinFree bounds the bytes that are to be free.
const maxMinFree = 1 << 60

// maxAddress bounds the bytes of an address.
const maxAddress = 255

func validName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("name of %d bytes, 1 to %d are allowed", len(name), MaxName)
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.':
		default:
			return fmt.Errorf("name %q has other characters than letters, digits, '-' and '.'", name)
		}
	}
	return nil
}

// String returns the options as they are used, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	where := "alone"
	if o.Network != nil {
		where = "at " + o.Address
	}
	free := fmt.Sprintf("%d bytes", o.MinFree)
	switch {
	case o.MinFree == 0:
		free = fmt.Sprintf("up to %d bytes", int64(DefaultMinFree))
	case o.MinFree < 0:
		free = "nothing"
	}
	return fmt.Sprintf("name %s %s, bootstrap %t, heartbeat %s, election %s, lease %s, stall %s, snapshot every %d, trailing %d, %s kept free",
		o.Name, where, o.Bootstrap, o.Timeouts.Heartbeat, o.Timeouts.Election, o.Timeouts.Lease, o.Stall, o.SnapshotEvery, o.Trailing, free)
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = DefaultName
	}
	o.Bootstrap = o.Bootstrap || o.Network == nil
	if o.Timeouts == (Timeouts{}) {
		o.Timeouts = Default()
		if o.Network == nil {
			o.Timeouts = Single()
		}
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = DefaultSnapshotEvery
	}
	if o.Trailing == 0 {
		o.Trailing = DefaultTrailing
	}
	if o.digests == 0 {
		o.digests = digestEvery
	}
	if o.freeSpace == nil {
		o.freeSpace = freeSpace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Listener == nil {
		o.Listener = &Listener{}
	}
	return o
}
