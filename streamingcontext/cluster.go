package streamingcontext

import (
	"context"
	"errors"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A Cluster is the driver log of several drivers, of which one leads at a time: the node of a replicated log, such as those of a
// memlog.Group. Its State is what the node has been told of, which may be old where another leads.
type Cluster interface {
	driverlog.Log
	// Resign lets another node lead, if this one does and there is another, and returns when one does or none can. Drive calls it when
	// all else of a term has ended; it should try a few times, and end with ctx.
	Resign(ctx context.Context) error
}

// A DriverListener is told how a driver of several fares. Any function may be nil. Calls come one at a time, in the order of the facts, from
// goroutines of Drive, which waits for them: they must be quick, and may end the context that Drive was given.
type DriverListener struct {
	// StandingBy is called when the graph is built and the application as the driver's node knows it can be gone on with; before Leading in any
	// case. A driver that is refused does not stand by.
	StandingBy func()
	// Leading is called when a term has begun, before anything is done in it.
	Leading func(epoch uint64)
	// GoingOn is called when what earlier terms have prepared is visible, and ssc is about to make batches.
	GoingOn func(ssc *Context)
	// Paused is called when the driver leads and finds that the application is to pause, Resumed when it goes on: see driverlog.SetStatus.
	Paused, Resumed func()
	// StoodDown is called when all of a term has ended. reason is why, nil for a planned stop.
	StoodDown func(epoch uint64, reason error)
}

// Conditions of drivers that are several.
var (
	// ErrClusterNeedsFolder is returned by Start of a context that New has made with a Cluster: what it decides would not be found again by
	// other drivers. GetOrCreate and Drive make those that go on.
	ErrClusterNeedsFolder = errors.New("a context of several drivers is made by Drive or GetOrCreate")
	// ErrNoCluster is returned by Drive for options without a Cluster.
	ErrNoCluster = errors.New("Drive needs a Cluster")
)

// driverLog returns the log that options name, nil if none.
func (o Options) driverLog() driverlog.Log {
	if o.Cluster != nil {
		return o.Cluster
	}
	return o.Log
}

// termOver reports whether an error says that the driver's term has ended, or must.
func termOver(err error) bool {
	if _, fenced := errors.AsType[*driverlog.FencedError](err); fenced {
		return true
	}
	return errors.Is(err, ErrTermLost) || errors.Is(err, driverlog.ErrUnknown) || errors.Is(err, driverlog.ErrNotLeader)
}
