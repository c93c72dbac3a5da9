package scheduler

import (
	"slices"
	"time"
)

// Locality says how near an attempt runs to what it reads.
type Locality uint8

const (
	// ProcessLocal: on an executor the task prefers, or the task prefers none.
	ProcessLocal Locality = iota
	// NodeLocal: on a host the task prefers.
	NodeLocal
	// NoPref is the turn of tasks that prefer no place. Their attempts count as ProcessLocal.
	NoPref
	// RackLocal: in the rack of a host the task prefers.
	RackLocal
	// Anywhere: none of these.
	Anywhere
)

// String returns the level's name in the field, such as NODE_LOCAL.
func (l Locality) String() string {
	switch l {
	case ProcessLocal:
		return "PROCESS_LOCAL"
	case NodeLocal:
		return "NODE_LOCAL"
	case NoPref:
		return "NO_PREF"
	case RackLocal:
		return "RACK_LOCAL"
	}
	return "ANY"
}

// A place is where a task likes to run: an executor, or a host, or both. Either may be empty.
type place struct {
	executor ExecutorID
	host     string
}

// A line is a queue of indexes of a task set. An index that was launched or is done stays where it stands and
// is passed over.
type line struct {
	indexes []int
	head    int
}

// pushFront puts an index in front.
func (q *line) pushFront(index int) {
	if q.head > 0 {
		q.head--
		q.indexes[q.head] = index
		return
	}
	q.indexes = slices.Insert(q.indexes, 0, index)
}

// front returns the first index of the line that is still to be launched.
func (q *line) front(set *taskSet) (index int, ok bool) {
	if q == nil {
		return 0, false
	}
	for ; q.head < len(q.indexes); q.head++ {
		if i := q.indexes[q.head]; set.tasks[i].queued {
			return i, true
		}
	}
	return 0, false
}

// find returns the first index of the line that is still to be launched and suits.
func (q *line) find(set *taskSet, suits func(index int) bool) (index int, ok bool) {
	if _, any := q.front(set); !any {
		return 0, false
	}
	for _, i := range q.indexes[q.head:] {
		if set.tasks[i].queued && suits(i) {
			return i, true
		}
	}
	return 0, false
}

// Preferences are the lines of a task set by place, so that finding a task for an executor does not take a
// look at all of them. A task stands in a line of each of its places.
type preferences struct {
	executors    map[ExecutorID]*line
	hosts, racks map[string]*line
	none         line
	rack         func(host string) string

	level Locality  // how far the set may go
	since time.Time // when it got there
	// What has happened in the present round of offers.
	launched bool
	lowest   Locality // at which something was launched
	refused  bool     // whether a slot was left free, for the sake of waiting
}

// newPreferences returns the lines of a set, nil if no task has a preference.
func newPreferences(set *taskSet, rack func(host string) string) *preferences {
	p := &preferences{executors: map[ExecutorID]*line{}, hosts: map[string]*line{}, racks: map[string]*line{}, rack: rack}
	some := false
	for i := range set.tasks {
		places := set.tasks[i].places
		some = some || len(places) > 0
		p.stand(i, places, func(q *line) {
			if n := len(q.indexes); n == 0 || q.indexes[n-1] != i {
				q.indexes = append(q.indexes, i)
			}
		})
	}
	if !some {
		return nil
	}
	return p
}

// requeue puts an index in front of its lines.
func (p *preferences) requeue(index int, places []place) {
	p.stand(index, places, func(q *line) { q.pushFront(index) })
}

// stand calls in for every line in which a task with such places stands.
func (p *preferences) stand(index int, places []place, in func(q *line)) {
	if len(places) == 0 {
		in(&p.none)
	}
	for _, at := range places {
		if at.executor != "" {
			in(lineOf(p.executors, at.executor))
		}
		if at.host == "" {
			continue
		}
		in(lineOf(p.hosts, at.host))
		if p.rack != nil {
			if r := p.rack(at.host); r != "" {
				in(lineOf(p.racks, r))
			}
		}
	}
}

func lineOf[K comparable](lines map[K]*line, key K) *line {
	q := lines[key]
	if q == nil {
		q = new(line)
		lines[key] = q
	}
	return q
}

// at returns the line of the tasks for which an executor is as near as level, nil if there is none.
func (p *preferences) at(level Locality, ex *executor) *line {
	switch level {
	case ProcessLocal:
		return p.executors[ex.ID]
	case NodeLocal:
		return p.hosts[ex.Host]
	case RackLocal:
		if p.rack != nil && ex.Host != "" {
			return p.racks[p.rack(ex.Host)]
		}
	}
	return nil
}

// localityOf returns how near an executor is to the places of a task.
func (l *loop) localityOf(places []place, ex *executor) Locality {
	if len(places) == 0 {
		return ProcessLocal
	}
	best := Anywhere
	for _, at := range places {
		switch {
		case at.executor == ex.ID:
			return ProcessLocal
		case at.host == "" || ex.Host == "":
		case at.host == ex.Host:
			best = min(best, NodeLocal)
		case l.opts.Rack != nil && l.opts.Rack(at.host) != "" && l.opts.Rack(at.host) == l.opts.Rack(ex.Host):
			best = min(best, RackLocal)
		}
	}
	return best
}

// reach returns the farthest level at which a set may launch tasks now. It moves on when its wait is over, or
// at once where no pending task could be launched at the level whatever slots come free.
func (l *loop) reach(set *taskSet) Locality {
	p := set.prefers
	if l.opts.LocalityWait == 0 {
		return Anywhere
	}
	now := l.now()
	for p.level < Anywhere {
		if p.level == NoPref {
			// Nobody waits here.
		} else if !l.possible(set, p.level, l.executors) {
			p.since = now
		} else if wait := l.opts.LocalityWait; now.Sub(p.since) < wait {
			break
		} else {
			p.since = p.since.Add(wait)
		}
		p.level++
	}
	return p.level
}

// possible reports whether some pending task of a set could run at a level on one of the executors, slots
// aside.
func (l *loop) possible(set *taskSet, level Locality, executors []*executor) bool {
	p := set.prefers
	for _, ex := range executors {
		if _, ok := p.at(level, ex).front(set); ok {
			return true
		}
	}
	return false
}

// settle ends a round of offers: the clock of a set starts anew only if the set launched something and left no
// slot free. Were it to start at every launch, tasks that nobody can place well would wait for ever. Of the
// sets that wait, the earliest to be done with it sets the alarm.
func (l *loop) settle() {
	if l.opts.LocalityWait == 0 {
		return
	}
	var wake time.Time
	for _, set := range l.sets {
		p := set.prefers
		if p == nil {
			continue
		}
		if p.launched && !p.refused {
			p.level, p.since = p.lowest, l.now()
		}
		if p.refused && p.level < Anywhere {
			if at := p.since.Add(l.opts.LocalityWait); wake.IsZero() || at.Before(wake) {
				wake = at
			}
		}
		p.launched, p.refused = false, false
	}
	if !wake.IsZero() {
		l.wakeAt(wake)
	}
}

// nearer lets the sets that have moved on wait again where a new executor makes a better level possible.
func (l *loop) nearer(ex *executor, others []*executor) {
	if l.opts.LocalityWait == 0 {
		return
	}
	for _, set := range l.sets {
		if set.prefers == nil {
			continue
		}
		for level := ProcessLocal; level < set.prefers.level; level++ {
			if level != NoPref && l.possible(set, level, []*executor{ex}) && !l.possible(set, level, others) {
				set.prefers.level, set.prefers.since = level, l.now()
				break
			}
		}
	}
}
