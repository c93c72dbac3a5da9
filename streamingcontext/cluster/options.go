package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// Options say how a node is opened. The zero value is a cluster of one that nobody reaches.
type Options struct {
	// Name is the driver's: letters, digits, '-' and '.', at most 64. With TLS its certificate has it among its DNS names. Empty means "driver".
	Name string
	// Build says to people what program this is, at most 128 bytes of text, in statuses and to other drivers. Drivers of different builds
	// are members of one cluster: see streamingcontext.Drive. Empty means the version that the program was built as, if it listens.
	Build string
	// Listen is the address on which other drivers and `leat cluster` reach it. Empty means nobody does. Without TLS it must be on the
	// loopback interface.
	Listen string
	// Advertise is the address that others dial. Empty means the one that is listened on.
	Advertise string
	// TLS names the files of certificates. Nil means none, and then all drivers are on this machine.
	TLS *link.TLS
	// HTTP is the address at which Drive answers for health, status and metrics, see Handler. Without TLS it must be on the loopback interface;
	// with it, only those are answered who show a certificate of the authority. Empty means none.
	HTTP string
	// Bootstrap makes a new cluster of this driver where the folder is empty. A driver that has lost its folder must not be started
	// with it: it would make a second cluster, which the others refuse. It is taken for true without Listen.
	Bootstrap bool
	// Resume lets an application go on that was stopped, see driverlog.SetStatus, before Drive runs it. All its drivers have ended, so nobody
	// could be asked to. To be taken out again: as long as it is there, every start is a resume.
	Resume bool
	// Timeouts are those of all members. Zero means raftlog.Single without Listen and raftlog.Default with it.
	Timeouts raftlog.Timeouts
	// Copies is on how many drivers a received block is durable before it is acknowledged. 0 means 2: receivers of a driver that
	// is alone in its cluster wait. Without Listen blocks are on this disk.
	Copies int
	// SnapshotEvery is after how many entries of the replicated log a snapshot is taken. 0 means 4096.
	SnapshotEvery uint64
	// Trailing is how many entries of the replicated log stay behind a snapshot, for drivers that lag and for looking at. 0 means 4096.
	Trailing uint64
	// Stall is how long a write of the replicated log may take before the driver ends; others lead some seconds later. 0 means 10 s.
	Stall time.Duration
	// MinFree is how many bytes must be free on the disk of the folder for the driver to lead, see raftlog.Options. 0 means 64 MiB on a disk that is
	// large enough for it; less than zero means that nobody looks.
	MinFree int64
	// Network is where the connections are made. Nil means TCP; another is for tests.
	Network link.Network
	// Progress hears of the batches that this driver makes, for /metrics, and for a page of streamingcontext/web. Nil means that nobody does. Its
	// options name the application and the interval.
	Progress *progress.Store
	// Logger takes what the parts say. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that Open would refuse.
func (o Options) Validate() error {
	if o.Listen == "" && (o.Advertise != "" || o.TLS != nil || o.Network != nil) {
		return errors.New("cluster options: Advertise, TLS and Network need Listen")
	}
	if o.HTTP != "" && o.TLS == nil {
		if err := link.CheckLoopback(o.HTTP); err != nil {
			return fmt.Errorf("cluster options: HTTP: %w", err)
		}
	}
	if err := link.CheckBuild(o.Build); err != nil {
		return fmt.Errorf("cluster options: %w", err)
	}
	if o.Copies < 0 {
		return fmt.Errorf("cluster options: Copies is %d", o.Copies)
	}
	return nil // the parts see to the rest
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	where := "alone"
	if o.Listen != "" {
		where = fmt.Sprintf("at %s, certificates %t, received blocks on %d drivers", o.Listen, o.TLS != nil, o.Copies)
	}
	return fmt.Sprintf("driver %s of build %q, %s, bootstrap %t", o.Name, o.Build, where, o.Bootstrap)
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = raftlog.DefaultName
	}
	if o.Copies == 0 {
		o.Copies = blockcopies.DefaultCopies
	}
	o.Bootstrap = o.Bootstrap || o.Listen == ""
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
