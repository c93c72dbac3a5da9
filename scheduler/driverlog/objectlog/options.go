package objectlog

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// What Options means by zero.
const (
	DefaultPrefix        = "driver"
	DefaultSnapshotEvery = 1024
	DefaultLease         = 10 * time.Second
	DefaultTimeout       = 30 * time.Second
)

// Options says how a Log is opened. The zero value is that of node "local".
type Options struct {
	// Node is the name that terms are started under. Empty means "local".
	Node string
	// Prefix is the folder of the log in its store. Empty means "driver".
	Prefix string
	// SnapshotEvery is the number of entries after which the state is written in their place. Zero means 1024. A small number makes
	// opening faster and writing slower.
	SnapshotEvery int
	// Lease is how long the owner's record counts without being renewed, which is done three times in it. Zero means 10 seconds.
	Lease time.Duration
	// Wait is how long Open waits for another owner to end or lapse. Zero means not at all. A driver that is started again
	// after it was killed needs Lease.
	Wait time.Duration
	// Timeout is how long a write is tried before the log gives up. Zero means 30 seconds.
	Timeout time.Duration
	// Logger gets one Info when the log is opened and one a term, one Debug a snapshot, a Warn for what was found damaged or could not be
	// done for now, and an Error for the failure that ends the log. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that Open would refuse.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case len(o.Node) > driverlog.MaxName:
		return fmt.Errorf("objectlog: node name of %d bytes, at most %d are allowed", len(o.Node), driverlog.MaxName)
	case o.SnapshotEvery < 0:
		return fmt.Errorf("objectlog: a snapshot every %d entries", o.SnapshotEvery)
	case o.Lease < 0 || o.Wait < 0 || o.Timeout < 0:
		return fmt.Errorf("objectlog: lease %s, wait %s, timeout %s", o.Lease, o.Wait, o.Timeout)
	}
	if err := blobstore.CheckName(names{o.Prefix}.snapshot(0)); err != nil {
		return fmt.Errorf("objectlog: prefix %q: %w", o.Prefix, err)
	}
	return nil
}

// String returns the options as they are used, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("node %s, prefix %s, snapshot every %d, lease %s, wait %s, timeout %s",
		o.Node, o.Prefix, o.SnapshotEvery, o.Lease, o.Wait, o.Timeout)
}

func (o Options) withDefaults() Options {
	if o.Node == "" {
		o.Node = "local"
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = DefaultSnapshotEvery
	}
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return o
}
