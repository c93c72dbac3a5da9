package streamingcontext

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Defaults of DynamicInterval.
const (
	DefaultDynamicMax      = 10 // intervals
	DefaultDynamicTarget   = 0.8
	DefaultDynamicPatience = 3
)

// DynamicInterval lets one batch take the input of several intervals while batches take longer than the time between them, so
// that what each batch costs is paid less often. The zero value is off: every batch time has a batch.
//
// Batch times stay the multiples of Options.Interval that windows and slides are defined over. A batch that covers k intervals
// has the time of the last of them; the times before it are left out: no input, no jobs, no result, nothing in the driver
// log. Two ways lead there. A longer interval for a while, as in the source below, would move the batch times
// off the grid, and what a window of six intervals holds would depend on how busy the machine was. Making the batches in between without input, as
// batches of their own, keeps every window but saves nothing: a job for each of them is most of what was to be saved. Batches
// that are left out keep the grid, cost nothing, and are exact where each record counts once:
//
//   - a window with a slide longer than the interval is shown whenever it is due: such a time is never left out;
//   - a window that is due at every time could not be, and Start refuses it with a *dstream.CoalesceError naming it;
//   - a window holds the batches whose times are in it, so a record counts in those that hold the batch which it came in;
//   - a state function is called for the batches that there are: once for k intervals, with all their values;
//   - an input must be able to wait: files and receivers are, and others that are a dstream.InputHolder. Start refuses the rest.
//
// The number of intervals follows the time that the jobs of batches took, by Options.Clock and nothing else. It grows at once to
// what would have been Target full, and shrinks when Patience batches in a row would have done with less, to the most that one of them wanted. Where
// more input takes more than in proportion it stays at Max, and the report of overload says so.
//
// The driver log has the input of each batch, so a process that goes on has the same batches again.
//
// Source: Das, Zhong, Stoica and Shenker, "Adaptive Stream Processing using Dynamic Batch Sizing", SoCC 2014.
type DynamicInterval struct {
	Enabled bool
	// Max is how long the interval may grow, whole intervals of it. 0 means 10 intervals.
	Max time.Duration
	// Target is what share of its intervals a batch should take, at most 1. 0 means 0.8.
	Target float64
	// Patience is after how many batches in a row that would have done with less the interval shrinks. 0 means 3.
	Patience int
}

// Validate returns what is wrong with the options, joined.
func (d DynamicInterval) Validate() error {
	var errs []error
	if d.Max < 0 || d.Max%time.Millisecond != 0 {
		errs = append(errs, fmt.Errorf("dynamic interval: Max %v is not a whole number of milliseconds", d.Max))
	}
	if !(d.Target >= 0 && d.Target <= 1) {
		errs = append(errs, fmt.Errorf("dynamic interval: Target %v is not between 0 and 1", d.Target))
	}
	if d.Patience < 0 {
		errs = append(errs, errors.New("dynamic interval: Patience is negative"))
	}
	return errors.Join(errs...)
}

// String returns the options in effect.
func (d DynamicInterval) String() string {
	if !d.Enabled {
		return "off"
	}
	o, most := d.withDefaults(), "10 intervals"
	if o.Max > 0 {
		most = o.Max.String()
	}
	return fmt.Sprintf("at most %s, %v full, shrinks after %d batches", most, o.Target, o.Patience)
}

func (d DynamicInterval) withDefaults() DynamicInterval {
	if d.Target == 0 {
		d.Target = DefaultDynamicTarget
	}
	if d.Patience == 0 {
		d.Patience = DefaultDynamicPatience
	}
	return d
}

// A pace is how many intervals the next batch covers. It is told of batches where they end, as what is governed by them is.
type pace struct {
	opts     DynamicInterval // with defaults
	interval time.Duration
	most     int64

	mu     sync.Mutex // guards the fields below
	now    int64      // intervals
	wanted int64      // the most that one of the batches since has wanted
	quiet  int        // how many those are: batches in a row that wanted less than now
}

// newPace returns the pace of a context, nil where every batch time has a batch.
func newPace(d DynamicInterval, interval time.Duration) *pace {
	if !d.Enabled {
		return nil
	}
	p := &pace{opts: d.withDefaults(), interval: interval, most: DefaultDynamicMax, now: 1}
	if d.Max > 0 {
		p.most = max(1, int64(d.Max/interval))
	}
	return p
}

// intervals returns how many intervals the next batch covers.
func (p *pace) intervals() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// took takes note of how long the jobs of a batch took, and reports whether the pace has changed.
func (p *pace) took(d time.Duration) (now int64, changed bool) {
	want := int64(1)
	if d > 0 {
		want = int64(min(math.Ceil(float64(d)/(p.opts.Target*float64(p.interval))), float64(p.most)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.now
	if want >= p.now {
		p.now, p.wanted, p.quiet = want, 0, 0
		return p.now, p.now != was
	}
	p.wanted = max(p.wanted, want)
	if p.quiet++; p.quiet >= p.opts.Patience {
		p.now, p.wanted, p.quiet = p.wanted, 0, 0
	}
	return p.now, p.now != was
}

// batchTook lets the pace follow a batch.
func (c *Context) batchTook(d time.Duration) {
	if c.pace == nil {
		return
	}
	if now, changed := c.pace.took(d); changed {
		c.opts.Logger.Info("batches cover another number of intervals", "intervals", now, "processing time", d)
	}
}
