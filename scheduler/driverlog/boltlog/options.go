package boltlog

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// DefaultSnapshotEvery is the number of entries between snapshots where Options says none.
const DefaultSnapshotEvery = 1024

// Options says how a Log is opened. The zero value is that of node "local".
type Options struct {
	// Node is the name that terms are started under. Empty means "local".
	Node string
	// Logger gets one Info when the log is opened and one a term, one Debug a snapshot, a Warn for what was repaired and an Error for
	// the failure that ends the log. Nil discards.
	Logger *slog.Logger
	// SnapshotEvery is the number of entries after which the state is written in their place. Zero means 1024. A small
	// number makes opening faster and writing slower.
	SnapshotEvery int
	// LockTimeout is how long Open waits for another owner to close the log. Zero means not at all.
	LockTimeout time.Duration
}

// Validate returns an error for options that Open would refuse.
func (o Options) Validate() error {
	switch {
	case len(o.Node) > driverlog.MaxName:
		return fmt.Errorf("boltlog: node name of %d bytes, at most %d are allowed", len(o.Node), driverlog.MaxName)
	case o.SnapshotEvery < 0:
		return fmt.Errorf("boltlog: a snapshot every %d entries", o.SnapshotEvery)
	case o.LockTimeout < 0:
		return fmt.Errorf("boltlog: lock timeout %s", o.LockTimeout)
	}
	return nil
}

// String returns the options as they are used, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("node %s, snapshot every %d, lock timeout %s", o.Node, o.SnapshotEvery, o.LockTimeout)
}

func (o Options) withDefaults() Options {
	if o.Node == "" {
		o.Node = "local"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = DefaultSnapshotEvery
	}
	return o
}
