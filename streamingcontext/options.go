package streamingcontext

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// Defaults of Options.
const (
	DefaultApp               = "streaming"
	DefaultConcurrentJobs    = 1
	DefaultMaxPendingRecords = 1 << 20
	DefaultListenerQueue     = 10_000
)

// MaxKeepCheckpoints is the most that Options.KeepCheckpoints may be.
const MaxKeepCheckpoints = 1024

// Options set up a Context. Only Interval is required.
type Options struct {
	// App names the application in the driver log, at most 255 bytes. Empty means "streaming".
	App string
	// Interval is how far apart batches are, in whole milliseconds.
	Interval time.Duration

	// Engine is what jobs run on. Nil: the context makes one from EngineOptions and closes it when it
	// stops. The caller closes its own.
	Engine *Engine
	// EngineOptions set up the context's own engine; they must be zero where Engine is given.
	EngineOptions EngineOptions
	// CheckpointDir is the folder that RDDs are checkpointed below: a short form of
	// EngineOptions.CheckpointDir.
	CheckpointDir string

	// Clock tells when a batch is due. Nil means SystemClock.
	Clock Clock
	// Log holds what the driver decides about batches. Nil means one in memory. A given log is not
	// closed by the context, and must hold no other running context of the same App.
	Log driverlog.Log
	// Cluster is Log for a program that several processes run at once, of which one makes the batches and the others stand by: see Drive. It needs
	// a Store that all of them share, and takes the place of Log. Like a given Log it is not closed by the context.
	Cluster Cluster
	// DriverListener is told how a driver of several fares, by Drive alone.
	DriverListener DriverListener
	// Store makes a context of GetOrCreate keep checkpoints, and the state of streams, as blobs of a store, so that it can go on on another
	// machine. It needs a Log that is as durable, such as one of package objectlog in the same store, or a Cluster, and must hold no other
	// application. An Engine that is given must have it as its CheckpointStore. Nil: files in the folder.
	Store blobstore.Store
	// Blocks keeps, for a context of GetOrCreate, what receivers have received on other machines too, so that it goes on there: see package
	// blockcopies. It needs a Log that the drivers share. Nil: files in the folder.
	Blocks Blocks
	// ConcurrentJobs is how many output operations run at once. 0 means 1: the outputs of a batch in the
	// order declared, batch after batch. With more, neither is promised.
	ConcurrentJobs int
	// OnFailure says what to do when a batch fails. Zero ends the context with the batch's error.
	OnFailure FailurePolicy
	// RepeatLast makes a context of GetOrCreate that finds no batch under way run the last one again, though it is
	// committed: for outputs whose effects outside may have got lost with the machine. Before it, it runs those of the latest
	// MaxSetAside batches again that were set aside, as far as they can be made still. Rows of SaveTo are not written again.
	// Spark always does so.
	RepeatLast bool
	// KeepCheckpoints is how many checkpoints a context of GetOrCreate keeps in its folder, with the state and the inputs that they need,
	// so that RewindCheckpoint can go back that far. 0 means 1, the one that it would go on from; at most MaxKeepCheckpoints.
	KeepCheckpoints int
	// FullCheckpoints makes a context of GetOrCreate write keyed state whole at every checkpoint, as fewer and larger files. By
	// default a checkpoint holds what changed since the one before and a part of the rest, and builds on those before it.
	FullCheckpoints bool
	// KeepPersisted lets what batches have left on executors, and received blocks, stay when the batches are
	// forgotten, so that they can be asked for again at once. They go when the engine is closed: it is for programs
	// that end soon. Spark calls it spark.streaming.unpersist=false.
	KeepPersisted bool
	// StopTimeout bounds an orderly stop, and how long any stop waits for functions that ignore their context (at
	// least two seconds). 0 means 10 intervals, less than zero means no bound. It is time of package time,
	// whatever Clock says.
	StopTimeout time.Duration

	// MaxPendingRecords is how many records of one receiver may be stored and not yet processed
	// before further blocks wait. 0 means 1,048,576. A larger block passes when nothing else is pending.
	MaxPendingRecords int64
	// BlockInterval is the time a receiver's block is gathered for. 0 means 200 ms.
	BlockInterval time.Duration
	// RestartDelay is the wait before a receiver that ended is started again. 0 means 2 s.
	RestartDelay time.Duration
	// MaxRate is how many records a second one receiver may store one by one, whatever Backpressure says. 0 means no
	// limit.
	MaxRate int64
	// Backpressure lets the rates of receivers, and of inputs of files, follow the speed of the batches. The zero value does not.
	Backpressure Backpressure
	// DynamicInterval lets a batch take the input of several intervals while batches take too long. The zero value does not.
	DynamicInterval DynamicInterval
	// Missed says what becomes of batch times that passed while a context of GetOrCreate was not there. Zero makes a batch of
	// each.
	Missed MissedPolicy
	// DynamicAllocation lets the number of executors follow the load. The zero value does not.
	DynamicAllocation DynamicAllocation
	// FileRemember is how long after its modification time a file may become visible. 0 means one minute.
	FileRemember time.Duration

	// Listeners are told what happens. None costs nothing.
	Listeners []Listener
	// ListenerQueue is how many events may wait for the listeners; more are dropped and counted. 0
	// means 10,000.
	ListenerQueue int
	// Logger takes starts and stops (Info), batches (Debug), what was retried (Warn) and what failed
	// (Error). Nil discards.
	Logger *slog.Logger
}

// Validate returns what is wrong with the options, joined.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("streaming context options: "+format, args...))
	}
	switch {
	case o.Interval == 0:
		bad("Interval: %w", ErrBatchDurationUnset)
	case o.Interval < 0 || o.Interval%time.Millisecond != 0:
		bad("Interval: %w: %v is not a positive whole number of milliseconds", dstream.ErrBadDuration, o.Interval)
	}
	switch {
	case o.Cluster != nil && o.Log != nil:
		bad("Cluster and Log cannot both be given")
	case o.Cluster != nil && o.Store == nil:
		bad("Cluster: it needs a Store, where the other drivers find what this one has left")
	case o.Store != nil && o.driverLog() == nil:
		bad("Store: it needs a Log or a Cluster, which keeps other drivers out")
	}
	if o.Blocks != nil && o.driverLog() == nil {
		bad("Blocks: it needs a Log, which tells the drivers' terms")
	}
	if len(o.App) > driverlog.MaxName {
		bad("App has %d bytes, at most %d are allowed", len(o.App), driverlog.MaxName)
	}
	if own := o.EngineOptions; o.Engine != nil &&
		(o.CheckpointDir != "" || own.String() != (EngineOptions{}).String() || len(own.SchedulerListeners) > 0) {
		bad("CheckpointDir and EngineOptions must be zero with a given Engine")
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"ConcurrentJobs", int64(o.ConcurrentJobs)}, {"MaxPendingRecords", o.MaxPendingRecords},
		{"MaxRate", o.MaxRate}, {"ListenerQueue", int64(o.ListenerQueue)}, {"KeepCheckpoints", int64(o.KeepCheckpoints)},
	} {
		if f.value < 0 {
			bad("%s is negative", f.name)
		}
	}
	if o.KeepCheckpoints > MaxKeepCheckpoints {
		bad("KeepCheckpoints is %d, at most %d are allowed", o.KeepCheckpoints, MaxKeepCheckpoints)
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"BlockInterval", o.BlockInterval}, {"RestartDelay", o.RestartDelay}, {"FileRemember", o.FileRemember}} {
		if f.value < 0 || f.value%time.Millisecond != 0 {
			bad("%s: %w: %v is not a whole number of milliseconds", f.name, dstream.ErrBadDuration, f.value)
		}
	}
	if o.Missed < MissedEach || o.Missed > MissedCoalesce {
		bad("Missed: there is no %v", o.Missed)
	}
	if d := o.DynamicInterval; d.Enabled && d.Max > 0 && d.Max < o.Interval {
		bad("DynamicInterval: Max %v is less than the interval %v", d.Max, o.Interval)
	}
	errs = append(errs, o.DynamicInterval.Validate(), o.OnFailure.Validate(), o.EngineOptions.Validate(), o.Backpressure.Validate(), o.DynamicAllocation.Validate())
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("app %q, interval %v, concurrent jobs %d, on failure: %v, keep checkpoints %d, keep persisted %t, stop timeout %v, max pending records %d, block interval %v, "+
		"restart delay %v, max rate %d/s, back-pressure %v, dynamic interval %v, missed batches %v, dynamic allocation %v, listeners %d, one of several drivers %t, own engine %t (%v)", o.App, o.Interval, o.ConcurrentJobs, o.OnFailure, o.KeepCheckpoints, o.KeepPersisted, o.StopTimeout,
		o.MaxPendingRecords, o.BlockInterval, o.RestartDelay, o.MaxRate, o.Backpressure, o.DynamicInterval, o.Missed, o.DynamicAllocation, len(o.Listeners), o.Cluster != nil, o.Engine == nil, o.EngineOptions)
}

// patience is how long a stop waits for functions that ignore their context; 0 means for ever.
func (o Options) patience() time.Duration {
	if o.StopTimeout < 0 {
		return 0
	}
	return max(o.StopTimeout, 2*time.Second)
}

func (o Options) withDefaults() Options {
	if o.App == "" {
		o.App = DefaultApp
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.ConcurrentJobs == 0 {
		o.ConcurrentJobs = DefaultConcurrentJobs
	}
	if o.KeepCheckpoints == 0 {
		o.KeepCheckpoints = 1
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = 10 * o.Interval
	}
	if o.MaxPendingRecords == 0 {
		o.MaxPendingRecords = DefaultMaxPendingRecords
	}
	if o.BlockInterval == 0 {
		o.BlockInterval = receivers.DefaultBlockInterval
	}
	if o.RestartDelay == 0 {
		o.RestartDelay = receivers.DefaultRestartDelay
	}
	if o.ListenerQueue == 0 {
		o.ListenerQueue = DefaultListenerQueue
	}
	if o.CheckpointDir != "" && o.EngineOptions.CheckpointDir == "" {
		o.EngineOptions.CheckpointDir = o.CheckpointDir
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.EngineOptions.Logger == nil {
		o.EngineOptions.Logger = o.Logger
	}
	return o
}
