package progress

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
)

// Defaults of Options.
const (
	DefaultRetainedBatches = 1000
	DefaultRetainedJobs    = 1000
)

// Options set up a Store. The zero value works.
type Options struct {
	// RetainedBatches is how many completed batches are remembered. 0 means 1000.
	RetainedBatches int
	// RetainedJobs is how many jobs that have ended are remembered with their stages; of older ones the numbers
	// are. 0 means 1000.
	RetainedJobs int
	// App, Interval and Operations describe the program, for a store that is not attached to a context.
	App        string
	Interval   time.Duration
	Operations []dstream.Operation
	// Now returns the time in milliseconds. Nil means the context's clock, else the system's.
	Now func() int64
}

// Validate returns what is wrong with the options, joined.
func (o Options) Validate() error {
	var errs []error
	if o.RetainedBatches < 0 {
		errs = append(errs, errors.New("progress options: RetainedBatches is negative"))
	}
	if o.RetainedJobs < 0 {
		errs = append(errs, errors.New("progress options: RetainedJobs is negative"))
	}
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("app %q, interval %v, operations %d, retained batches %d, retained jobs %d", o.App, o.Interval,
		len(o.Operations), o.RetainedBatches, o.RetainedJobs)
}

func (o Options) withDefaults() Options {
	if o.RetainedBatches <= 0 {
		o.RetainedBatches = DefaultRetainedBatches
	}
	if o.RetainedJobs <= 0 {
		o.RetainedJobs = DefaultRetainedJobs
	}
	return o
}

// A Store keeps what is known of one streaming program.
type Store struct {
	jobs *jobs

	mu         sync.RWMutex // guards the fields below
	opts       Options
	operations func() []dstream.Operation // nil: those of opts, for good
	started    int64
	waiting    []Batch // ascending by time, as running
	running    []Batch
	completed  []Batch // a ring, the oldest at next once it is full
	next       int
	totals     Totals
	inputs     []int64 // records of each input
	receivers  []Receiver
	overload   *streamingcontext.OverloadInfo // what was told last; nil before, and once it is over
}

// Totals count since the store began to listen.
type Totals struct {
	CompletedBatches int64 // those that could not be generated and were set aside included
	FailedBatches    int64 // of them those with an output that failed, or that were set aside
	SetAsideBatches  int64 // that failed and that the context went on without
	ReceivedRecords  int64 // of batches that have started
	ProcessedRecords int64 // of batches that have completed
	DroppedEvents    int64 // of the streaming context, that the store has missed
}

// New returns a store that knows nothing yet. A negative number in opts counts as 0; Validate would say so.
func New(opts Options) *Store {
	s := &Store{opts: opts.withDefaults(), started: streamingcontext.Unknown}
	s.jobs = newJobs(s.opts.RetainedJobs, s.open)
	return s
}

// Attach makes the store follow a context, best before its start, and the scheduler it runs on. detach ends that;
// a program that goes on using the context's engine calls it when the context has stopped. The store can still
// be read then.
func (s *Store) Attach(c *streamingcontext.Context) (detach func()) {
	s.mu.Lock()
	if s.opts.App == "" {
		s.opts.App = c.App()
	}
	if s.opts.Interval == 0 {
		s.opts.Interval = c.Interval()
	}
	if s.opts.Operations == nil {
		s.operations = c.Graph().Operations
	}
	if s.opts.Now == nil {
		s.opts.Now = c.Clock().Now
	}
	s.mu.Unlock()
	batches, jobs := s.Listener(), s.SchedulerListener()
	c.AddListener(&batches)
	c.Engine().AddListener(&jobs)
	return func() {
		c.RemoveListener(&batches)
		c.Engine().RemoveListener(&jobs)
	}
}

// Listener returns what tells the store of batches and receivers, for a store that is not attached.
func (s *Store) Listener() streamingcontext.Listener {
	return streamingcontext.Listener{
		StreamingStarted: s.streamingStarted,
		ReceiverStarted:  s.receiverStarted,
		ReceiverError:    s.receiverError,
		ReceiverStopped:  s.receiverStopped,
		ReceiverChanged:  func(r streamingcontext.ReceiverInfo) { s.receiver(r, func(*Receiver) {}) },
		BatchSubmitted:   s.batchSubmitted,
		BatchStarted:     s.batchStarted,
		BatchCompleted:   s.batchCompleted,
		BatchSetAside:    s.batchSetAside,
		OutputStarted:    s.output,
		OutputCompleted:  s.output,
		Overloaded:       s.overloaded,
		Dropped:          s.dropped,
	}
}

// SchedulerListener returns what tells the store of jobs, stages and tasks, for a store that is not attached.
func (s *Store) SchedulerListener() scheduler.Listener { return s.jobs.listener() }

// Operations returns the streams and outputs of the program, in the order declared.
func (s *Store) Operations() []dstream.Operation {
	s.mu.RLock()
	ask, ops := s.operations, s.opts.Operations
	s.mu.RUnlock()
	if ask != nil {
		return ask()
	}
	return ops
}

// now is the time of whoever makes the batches. mu is held.
func (s *Store) now() int64 {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now().UnixMilli()
}

// open returns how many batches the store knows.
func (s *Store) open() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.waiting) + len(s.running) + len(s.completed)
}
