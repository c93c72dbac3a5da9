package scheduler

import "time"

// An alarm is the event of the one timer of a loop: what was put off until then is looked at.
type alarm struct{ at time.Time }

// wakeAt sets the alarm, unless it is set for an earlier time.
func (l *loop) wakeAt(at time.Time) {
	if !l.alarm.IsZero() && !at.Before(l.alarm) {
		return
	}
	l.alarm = at
	l.after(at.Sub(l.now()), alarm{at})
}

// apply does what is due; offers follow, as after any event. An alarm that was overtaken by an earlier one
// finds nothing due.
func (ev alarm) apply(l *loop) {
	if ev.at.Equal(l.alarm) {
		l.alarm = time.Time{}
	}
	now := l.now()
	if l.opts.Speculation.Enabled {
		l.speculate(now)
	}
	if l.exclusion != nil {
		l.readmit(now)
	}
}

// watch sets the alarm for the next look at running tasks, while there are any.
func (l *loop) watch() {
	if !l.opts.Speculation.Enabled || len(l.sets) == 0 {
		return
	}
	if l.nextCheck.IsZero() {
		l.nextCheck = l.now().Add(l.opts.Speculation.Interval)
	}
	l.wakeAt(l.nextCheck)
}
