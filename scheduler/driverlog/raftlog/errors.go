package raftlog

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A NotLeaderError says that this node does not lead, and who does as far as it knows. It is a driverlog.ErrNotLeader: the
// command was not appended.
type NotLeaderError struct {
	Leader Member // zero where none is known
	Reason string // why, where it is not simply that another leads
}

// Error returns the leader and the reason.
func (e *NotLeaderError) Error() string {
	s := driverlog.ErrNotLeader.Error()
	switch {
	case e.Reason != "":
		return s + ": " + e.Reason
	case e.Leader.ID == "":
		return s + ", and no leader is known"
	}
	return fmt.Sprintf("%s, %s at %s is", s, e.Leader.ID, e.Leader.Address)
}

// Is tells that the error is driverlog.ErrNotLeader.
func (e *NotLeaderError) Is(target error) bool { return target == driverlog.ErrNotLeader }

// A PoisonError says that a write to the disk of a node failed or took too long. The node has stopped for good: what the write
// left behind is only known to the next Open.
type PoisonError struct {
	Dir string
	Op  string // what was written
	Err error
}

// Error returns the folder, the write and the cause.
func (e *PoisonError) Error() string {
	return fmt.Sprintf("driver log %s is poisoned: %s: %v", e.Dir, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *PoisonError) Unwrap() error { return e.Err }

// A StallError is the cause of a PoisonError where a write took too long.
type StallError struct {
	After time.Duration
}

// Error returns the bound that was passed.
func (e *StallError) Error() string { return fmt.Sprintf("no answer from the disk in %s", e.After) }

// An IdentityError says that a folder belongs to another node or another cluster, or has lost a part of what belongs together.
type IdentityError struct {
	Path   string
	Reason string
}

// Error returns the file and the reason.
func (e *IdentityError) Error() string {
	return fmt.Sprintf("driver log identity %s: %s", e.Path, e.Reason)
}

// A CorruptError says that an entry, a snapshot or a file of a node is not as a node wrote it, or is of a format version that this
// build does not know. It is never skipped: the node stops.
type CorruptError struct {
	Dir   string
	Entry uint64 // the raft index of the entry, 0 where none is to blame
	What  string
	Err   error // the cause, if there is one beyond What
}

// Error returns the place and what does not fit.
func (e *CorruptError) Error() string {
	s := "corrupt driver log"
	if e.Dir != "" {
		s += " " + e.Dir
	}
	if e.Entry > 0 {
		s += fmt.Sprintf(", raft entry %d", e.Entry)
	}
	s += ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// A DivergedError says that the state of this replica is not the one that the leader had after the same commands. The replica
// has stopped; it must be wiped and joined again.
type DivergedError struct {
	Applied    uint64 // the number of entries of commands behind both
	Have, Want Digest // this replica's and the leader's
}

// Error returns both digests and where they were taken.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("driver log replica has diverged after %d entries: its digest is %s, the leader's is %s", e.Applied, e.Have, e.Want)
}

// A LockedError says that the folder of a node is in use.
type LockedError = driverlog.LockedError

// A Holder is the process that has the folder.
type Holder = driverlog.Holder

// A MemberError says why a change of the members was not made.
type MemberError struct {
	ID     string
	Reason string
}

// Error returns the member and the reason.
func (e *MemberError) Error() string { return fmt.Sprintf("member %s: %s", e.ID, e.Reason) }

// A Digest is the SHA-256 of an encoded state.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
