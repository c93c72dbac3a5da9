package raftlog

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// RecoverOptions says how a folder becomes a cluster of its own. The zero value is a cluster of one that nobody reaches.
type RecoverOptions struct {
	// Address is what other members will dial. Empty means nobody will, until the node is opened with another.
	Address string
	// Logger gets what raft says, at Debug. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that Recover would refuse.
func (o RecoverOptions) Validate() error {
	if len(o.Address) > maxAddress {
		return fmt.Errorf("raftlog: address of %d bytes, at most %d are allowed", len(o.Address), maxAddress)
	}
	return nil
}

// String returns the options.
func (o RecoverOptions) String() string { return fmt.Sprintf("address %q", o.Address) }

// A RecoverReport says what a recovered folder holds, and what that may have cost.
type RecoverReport struct {
	Info            // of the folder, as it was before
	LastTerm uint64 // raft's term of the last entry
	Warning  string // for whoever decided this
}

// Recover makes the node whose folder dir is the only member of its cluster, with what its own disk holds: for the day on which most
// voters are gone for good. Nobody may be using the folder.
//
// What only the others had is lost, and entries that were never decided count as decided. A member that is left and is opened again
// would go on with another history: its folder must be wiped before it is joined.
//
// Errors: as Verify's: a folder that is damaged is not changed.
func Recover(dir string, opts RecoverOptions) (report RecoverReport, err error) {
	if err := opts.Validate(); err != nil {
		return RecoverReport{}, err
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	id, err := readIdentity(dir)
	if err != nil {
		return RecoverReport{}, err
	}
	lock, err := filelock.Take(lockPath(dir), dir, 0)
	if err != nil {
		return RecoverReport{}, err
	}
	d, err := openDisk(dir, false)
	if err != nil {
		return RecoverReport{}, errors.Join(err, lock.Release())
	}
	s := newStore(d, dir, DefaultStall, nil, lock.Release)
	defer func() { err = errors.Join(err, s.close()) }()
	logger := newHclogger(opts.Logger)
	snaps, err := openSnapshots(dir, nil, logger)
	if err != nil {
		return RecoverReport{}, err
	}
	report = RecoverReport{}
	report.Info, _, err = read(dir, id, d, snaps, func(e Entry) error { report.LastTerm = e.Term; return nil })
	if err != nil {
		return RecoverReport{}, err
	}
	if report.Cluster == "" {
		return RecoverReport{}, &IdentityError{Path: identityPath(dir), Reason: "belongs to a node that was never a member of a cluster"}
	}
	address := raft.ServerAddress(opts.Address)
	if address == "" {
		address = raft.ServerAddress("local:" + id.ID)
	}
	_, trans := raft.NewInmemTransport(address)
	conf := raft.DefaultConfig()
	conf.LocalID, conf.Logger = raft.ServerID(id.ID), logger
	m := &machine{dir: dir, every: digestEvery}
	servers := []raft.Server{{Suffrage: raft.Voter, ID: conf.LocalID, Address: address}}
	if err := raft.RecoverCluster(conf, m, s, s, snaps, trans, raft.Configuration{Servers: servers}); err != nil {
		return RecoverReport{}, fmt.Errorf("recover driver log %s: %w", dir, err)
	}
	if m.broken != nil {
		return RecoverReport{}, m.broken
	}
	report.Warning = fmt.Sprintf("%s is the only member of cluster %s now, with command %d of epoch %d as the last. Commands that only other members had are lost, "+
		"and the last ones here count as decided whether they were or not. Wipe the folders of the other %d members before they are joined again.",
		id.ID, report.Cluster, report.State.Index, report.State.Epoch, max(0, len(report.Members)-1))
	return report, nil
}
