package scheduler

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"
)

// ErrOutrun is the end of an attempt whose partition another attempt has brought, also if it came through.
var ErrOutrun = errors.New("another attempt of the partition has succeeded")

// Speculation runs copies of tasks that take much longer than the others of their stage. The zero value does
// not; Enabled with the rest zero works.
type Speculation struct {
	Enabled bool
	// Interval is how often running tasks are looked at. 0 means 100ms.
	Interval time.Duration
	// Quantile is the part of a stage's tasks that must have succeeded before. 0 means 0.9.
	Quantile float64
	// Multiplier is how many times the median of the successes a task may take. 0 means 3.
	Multiplier float64
	// MinRuntime is what every task may take. 0 means 100ms.
	MinRuntime time.Duration
	// Threshold is what a task may take in a stage that has no more tasks than an executor slots, before so
	// many of them have succeeded; also in a stage of one task. 0 means no such limit.
	Threshold time.Duration
	// AnyRate also copies tasks that read their rows about as fast as the others did. Without it such a task
	// may take twice as long. How fast a task is only a backend knows that is a Progress.
	AnyRate bool
	// Rate is the part of the average rate below which a task is slow. 0 means 0.75.
	Rate float64
}

// Progress is a Backend that knows how far running attempts are. Rows returns how many rows an attempt has
// read; it is called from the scheduler's loop and must not block.
type Progress interface {
	Rows(id TaskID) (rows int64, known bool)
}

func (o Speculation) validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"Interval", float64(o.Interval)}, {"Quantile", o.Quantile}, {"Multiplier", o.Multiplier},
		{"MinRuntime", float64(o.MinRuntime)}, {"Threshold", float64(o.Threshold)}, {"Rate", o.Rate},
	} {
		if !(f.value >= 0) { // nor may it be no number
			errs = append(errs, fmt.Errorf("scheduler options: Speculation.%s is negative", f.name))
		}
	}
	if o.Quantile > 1 {
		errs = append(errs, errors.New("scheduler options: Speculation.Quantile is over 1"))
	}
	return errors.Join(errs...)
}

func (o Speculation) withDefaults() Speculation {
	if o.Interval == 0 {
		o.Interval = 100 * time.Millisecond
	}
	if o.Quantile == 0 {
		o.Quantile = 0.9
	}
	if o.Multiplier == 0 {
		o.Multiplier = 3
	}
	if o.MinRuntime == 0 {
		o.MinRuntime = 100 * time.Millisecond
	}
	if o.Rate == 0 {
		o.Rate = 0.75
	}
	return o
}

// pace is what is known of the successes of a task set. Kept where speculation is on.
type pace struct {
	durations []time.Duration
	total     time.Duration
	rows      int64
}

func (p *pace) add(took time.Duration, rows int64) {
	p.durations = append(p.durations, took)
	p.total += took
	p.rows += rows
}

// median returns the upper median. There must be a duration.
func (p *pace) median() time.Duration {
	slices.Sort(p.durations)
	n := len(p.durations)
	if n%2 == 1 {
		return p.durations[n/2]
	}
	return (p.durations[n/2-1] + p.durations[n/2]) / 2
}

// speculate looks at the running tasks of all live sets, if it is time to.
func (l *loop) speculate(now time.Time) {
	if now.Before(l.nextCheck) {
		return
	}
	l.nextCheck = time.Time{}
	limits := map[*taskSet]time.Duration{}
	for _, set := range l.sets {
		if limit, ok := l.limit(set); ok {
			limits[set] = limit
		}
	}
	if len(limits) == 0 {
		return
	}
	for _, a := range l.attempts(func(a *attempt) bool { return !a.killed }) {
		limit, ok := limits[a.set]
		t := &a.set.tasks[a.index]
		if !ok || t.done || t.running != 1 || slices.Contains(a.set.copies, a.index) {
			continue
		}
		if took := now.Sub(a.started); took > limit && (took > 2*limit || l.slow(a, took)) {
			l.copyLater(a)
		}
	}
}

// limit returns what a running task of a set may take now; false if nothing can be said yet.
func (l *loop) limit(set *taskSet) (time.Duration, bool) {
	o := l.opts.Speculation
	n := len(set.tasks)
	if n == 1 && o.Threshold == 0 {
		return 0, false
	}
	enough := max(int(math.Floor(o.Quantile*float64(n))), 1)
	if n-set.remaining >= enough && len(set.pace.durations) > 0 {
		return max(time.Duration(o.Multiplier*float64(set.pace.median())), o.MinRuntime), true
	}
	slots := 0
	for _, ex := range l.executors {
		slots = max(slots, ex.Slots)
	}
	return o.Threshold, o.Threshold > 0 && n <= slots
}

// slow reports whether an attempt reads its rows slower than the successes did. One of which nothing is known
// has read none.
func (l *loop) slow(a *attempt, took time.Duration) bool {
	p := &a.set.pace
	if l.opts.Speculation.AnyRate || p.rows == 0 || p.total == 0 {
		return true
	}
	var rows int64
	if of, ok := l.backend.(Progress); ok {
		rows, _ = of.Rows(a.task.ID)
	}
	average := float64(p.rows) / float64(p.total)
	return float64(rows)/float64(took) < l.opts.Speculation.Rate*average
}

// copyLater puts a copy of a running attempt behind the tasks of its set.
func (l *loop) copyLater(a *attempt) {
	a.set.copies = append(a.set.copies, a.index)
	l.logAttempt(slog.LevelInfo, "task is slow, running a copy", a, nil)
	if !l.listening() {
		return
	}
	ev := started(a)
	l.emit(func(li *Listener) {
		if li.TaskCopied != nil {
			li.TaskCopied(ev)
		}
	})
}

// launchCopy launches a copy on a host that has not had an attempt of its partition.
func (l *loop) launchCopy(set *taskSet) bool {
	for i := 0; i < len(set.copies); {
		index := set.copies[i]
		t := &set.tasks[index]
		if t.done || t.running != 1 {
			set.copies = slices.Delete(set.copies, i, i+1) // it has come to an end
			continue
		}
		for level := ProcessLocal; level <= Anywhere; level++ {
			ex := l.leastLoadedOf(func(ex *executor) bool {
				return l.localityOf(t.places, ex) <= level && !slices.Contains(t.hosts, hostOf(ex)) && !l.barred(set, index, ex)
			})
			if ex == nil {
				continue
			}
			set.copies = slices.Delete(set.copies, i, i+1)
			l.launch(set, index, ex, l.localityOf(t.places, ex), true)
			return true
		}
		i++
	}
	return false
}

// runs reports whether an attempt of a partition runs that is still of use.
func (l *loop) runs(set *taskSet, index int) bool {
	for _, a := range l.running {
		if a.set == set && a.index == index && !a.killed {
			return true
		}
	}
	return false
}

// outrun kills the attempts of a partition that another one has brought.
func (l *loop) outrun(set *taskSet, index int) {
	if set.tasks[index].running == 0 {
		return
	}
	for _, a := range l.attempts(func(a *attempt) bool { return a.set == set && a.index == index }) {
		a.outrun = true
		l.kill(a)
	}
}
