package scheduler

import "slices"

// AddListener makes the scheduler tell l, too, of what happens from now on. l is known by its address, and
// copied: changing it later has no effect. Adding one again, or after Close, does nothing.
func (s *Scheduler) AddListener(l *Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if l == nil || s.closed || slices.ContainsFunc(s.deliveries, func(d *delivery) bool { return d.added == l && !d.removed }) {
		return
	}
	d := newDelivery(*l, s.opts.ListenerQueue, s.opts.Logger)
	d.added = l
	s.deliveries = append(s.deliveries, d)
	if s.started {
		s.listeners.Go(d.run)
		s.inbox.post(listenerAdded{d})
	}
}

// RemoveListener makes the scheduler forget a listener that AddListener was given. What has happened by now is
// still delivered, on the listener's goroutine, which ends then.
func (s *Scheduler) RemoveListener(l *Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.deliveries, func(d *delivery) bool { return d.added == l && !d.removed })
	if l == nil || i < 0 || s.closed {
		return
	}
	d := s.deliveries[i]
	d.removed = true
	if s.started {
		s.inbox.post(listenerRemoved{d}) // and stays known to Close until it has ended
		return
	}
	s.deliveries = slices.Delete(s.deliveries, i, i+1)
}

// sweep lets go of removed listeners whose goroutines have ended. mu is held.
func (s *Scheduler) sweep() {
	s.deliveries = slices.DeleteFunc(s.deliveries, func(d *delivery) bool {
		if !d.removed {
			return false
		}
		select {
		case <-d.over:
			return true
		default:
			return false
		}
	})
}

type (
	listenerAdded   struct{ d *delivery }
	listenerRemoved struct{ d *delivery }
)

func (ev listenerAdded) apply(l *loop) {
	l.deliveries = append(l.deliveries, ev.d)
	l.timed = true
}

func (ev listenerRemoved) apply(l *loop) {
	l.deliveries = slices.DeleteFunc(l.deliveries, func(d *delivery) bool { return d == ev.d })
	ev.d.close()
}
