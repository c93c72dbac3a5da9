package streamingcontext

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler"
)

// Defaults of DynamicAllocation.
const (
	DefaultScalingInterval  = time.Minute
	DefaultScalingUpRatio   = 0.9
	DefaultScalingDownRatio = 0.3
)

// DynamicAllocation says how the number of executors follows the load. The zero value is off.
//
// Every Interval the mean processing time of the batches that ended well since the last look is compared with the batch
// interval. From UpRatio on as many executors are added as that ratio, rounded, but at least one; down to DownRatio the
// newest executor without a receiver is released. A released executor's blocks are computed again where they are needed.
//
// Executors of this process share its CPUs and memory: adding them gives tasks more slots, not more machine, so a
// program does well to set MaxExecutors.
type DynamicAllocation struct {
	Enabled bool
	// MinExecutors is how few there may be. 0 means one a receiver, at least one.
	MinExecutors int
	// MaxExecutors is how many there may be. 0 means no limit.
	MaxExecutors int
	// Interval is how far looks are apart. 0 means one minute. A look comes with the first batch that ends after it is due.
	Interval time.Duration
	// UpRatio is the ratio of processing time to batch interval from which on executors are added. 0 means 0.9.
	UpRatio float64
	// DownRatio is the ratio down to which one is released, below UpRatio. 0 means 0.3.
	DownRatio float64
}

// Validate returns what is wrong with the options, joined.
func (d DynamicAllocation) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("dynamic allocation: "+format, args...))
	}
	if d.MinExecutors < 0 {
		bad("MinExecutors is negative")
	}
	if d.MaxExecutors < 0 {
		bad("MaxExecutors is negative")
	}
	if d.MinExecutors > 0 && d.MaxExecutors > 0 && d.MaxExecutors < d.MinExecutors {
		bad("MaxExecutors %d is below MinExecutors %d", d.MaxExecutors, d.MinExecutors)
	}
	if d.Interval < 0 || d.Interval%time.Millisecond != 0 {
		bad("Interval %v is not a whole number of milliseconds", d.Interval)
	}
	if !(d.UpRatio >= 0) || !(d.DownRatio >= 0) {
		bad("UpRatio %v and DownRatio %v must be above zero", d.UpRatio, d.DownRatio)
	}
	if o := d.withDefaults(0); !(o.UpRatio > o.DownRatio) {
		bad("UpRatio %v is not above DownRatio %v", o.UpRatio, o.DownRatio)
	}
	return errors.Join(errs...)
}

// String returns the options in effect.
func (d DynamicAllocation) String() string {
	if !d.Enabled {
		return "off"
	}
	o := d.withDefaults(0)
	return fmt.Sprintf("executors %d to %d, every %v, up from %v, down from %v", d.MinExecutors, d.MaxExecutors, o.Interval, o.UpRatio, o.DownRatio)
}

func (d DynamicAllocation) withDefaults(receivers int) DynamicAllocation {
	if d.MinExecutors == 0 {
		d.MinExecutors = max(1, receivers)
	}
	if d.MaxExecutors == 0 {
		d.MaxExecutors = math.MaxInt
	}
	if d.Interval == 0 {
		d.Interval = DefaultScalingInterval
	}
	if d.UpRatio == 0 {
		d.UpRatio = DefaultScalingUpRatio
	}
	if d.DownRatio == 0 {
		d.DownRatio = DefaultScalingDownRatio
	}
	return d
}

// scale returns how many executors there are to be, and which one is to go, empty for none. It is for options with
// their defaults filled in. Without batches mean is negative, and nothing changes.
func (d DynamicAllocation) scale(mean, interval time.Duration, executors []scheduler.ExecutorInfo, hosting func(scheduler.ExecutorID) bool) (total int, release scheduler.ExecutorID) {
	total = len(executors)
	if mean < 0 {
		return total, ""
	}
	ratio := float64(mean) / float64(interval)
	switch {
	case ratio >= d.UpRatio:
		more := min(math.Round(ratio), 1<<20) // a stalled batch is no reason to overflow
		return min(max(total+max(int(more), 1), d.MinExecutors), max(d.MaxExecutors, d.MinExecutors)), ""
	case ratio <= d.DownRatio && total > d.MinExecutors:
		for i := total - 1; i >= 0; i-- {
			if id := executors[i].ID; !hosting(id) {
				return total - 1, id
			}
		}
	}
	return total, ""
}

// An allocator scales the executors of a context. It looks when batches end, so it needs no goroutine and does nothing
// once batches do not end any more.
type allocator struct {
	c    *Context
	opts DynamicAllocation // with defaults

	mu      sync.Mutex // guards the fields below
	next    int64      // when to look, by the context's clock
	batches int
	sum     time.Duration // of their processing times
}

// newAllocator returns the allocator of a context that starts at now, nil if its executors are not to change.
func newAllocator(c *Context, now int64) *allocator {
	if !c.opts.DynamicAllocation.Enabled {
		return nil
	}
	o := c.opts.DynamicAllocation.withDefaults(len(c.receivers.receivers))
	return &allocator{c: c, opts: o, next: now + o.Interval.Milliseconds()}
}

// batchEnded counts a batch and, when it is time, looks.
func (a *allocator) batchEnded(info BatchInfo) {
	took, ok := info.ProcessingDelay()
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !info.Failed() {
		a.batches++
		a.sum += took / time.Duration(max(1, info.Intervals)) // what an interval took
	}
	if info.Ended < a.next {
		return
	}
	a.next = info.Ended + a.opts.Interval.Milliseconds()
	mean := time.Duration(-1)
	if a.batches > 0 {
		mean = a.sum / time.Duration(a.batches)
	}
	a.batches, a.sum = 0, 0
	a.apply(mean)
}

func (a *allocator) apply(mean time.Duration) {
	executors, cluster := a.c.engine.executors(), a.c.engine.cluster
	total, release := a.opts.scale(mean, a.c.Interval(), executors, a.c.receivers.hosting)
	for range total - len(executors) {
		id := cluster.Add()
		a.c.opts.Logger.Info("executor added", "executor", string(id), "mean processing time", mean)
	}
	if release != "" && cluster.Kill(release) {
		a.c.opts.Logger.Info("executor released", "executor", string(release), "mean processing time", mean)
	}
}
