package link

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Counts is what a link has done, for metrics.
type Counts struct {
	Open       int    // connections that came in and are not closed
	Handshakes int    // connections whose other end is not known yet
	Accepted   uint64 // connections that were agreed on, since Listen
	Refused    []RefusedCount
}

// RefusedCount is the number of connections that came in and were refused for a reason, by either end.
type RefusedCount struct {
	Reason Reason
	Count  uint64
}

// Counts returns the counts as they are now, those of Refused by reason, reasons without any left out.
func (l *Link) Counts() Counts {
	l.mu.Lock()
	c := Counts{Open: len(l.open), Handshakes: len(l.handshakes), Accepted: l.accepted}
	l.mu.Unlock()
	l.refusals.mu.Lock()
	defer l.refusals.mu.Unlock()
	for reason, n := range l.refusals.counts {
		if n > 0 {
			c.Refused = append(c.Refused, RefusedCount{Reason(reason), n})
		}
	}
	return c
}

// What is logged of refusals: one a minute for each pair of host and reason, and of so many pairs the last ones are known.
const (
	sayEvery = time.Minute
	maxSaid  = 64
)

// refusals counts those who were refused and says so, not so often that they could fill a disk.
type refusals struct {
	logger *slog.Logger

	mu     sync.Mutex // guards what follows
	counts [reasons]uint64
	said   []complaint // the oldest first, at most maxSaid
}

type complaint struct {
	host   string
	reason Reason
	at     time.Time
	since  int // refusals that were not said
}

// note counts a refusal and logs it, unless one like it was logged within the last minute.
func (r *refusals) note(e *RefusedError) {
	now := time.Now()
	r.mu.Lock()
	reason := e.Reason
	if reason >= reasons { // of a version that has more of them
		reason = Malformed
	}
	r.counts[reason]++
	say, since := r.due(hostOf(e.Peer.Address), reason, now)
	r.mu.Unlock()
	if !say {
		return
	}
	level := slog.LevelWarn
	if e.Reason == HungUp && e.Peer.ID == "" { // that is how others look whether a port is open
		level = slog.LevelDebug
	}
	r.logger.Log(context.Background(), level, "connection refused", "peer", e.Peer.String(), "reason", e.Reason.String(), "error", e, "since", since)
}

// due says whether to log, and how many were not since the last time.
func (r *refusals) due(host string, reason Reason, now time.Time) (say bool, since int) {
	for i, c := range r.said {
		if c.host != host || c.reason != reason {
			continue
		}
		if now.Sub(c.at) < sayEvery {
			r.said[i].since++
			return false, 0
		}
		since = c.since
		r.said = append(r.said[:i:i], r.said[i+1:]...)
		break
	}
	if len(r.said) >= maxSaid {
		r.said = r.said[1:]
	}
	r.said = append(r.said, complaint{host: host, reason: reason, at: now})
	return true, since
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
