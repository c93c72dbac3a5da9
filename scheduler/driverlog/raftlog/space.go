package raftlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// DefaultMinFree is the free space that a leader needs, in bytes, on a disk that is large enough for it.
const DefaultMinFree = 64 << 20

const (
	// spaceEvery is how often the free space is looked at.
	spaceEvery = time.Second
	// stopShare is the share of the space that a leader needs with less than which a node stops.
	stopShare = 4
	// diskShare is the largest share of a disk that the default asks for.
	diskShare = 20
	// lastYield bounds the pauses between attempts to let another lead: where all disks are full nobody can.
	lastYield = time.Minute
)

// A SpaceError says that too little is free on the disk of a node.
type SpaceError struct {
	Dir       string
	Free, Min int64 // bytes
}

// Error returns what is free and what is needed.
func (e *SpaceError) Error() string {
	return fmt.Sprintf("%d bytes are free on the disk of %s, %d are needed", e.Free, e.Dir, e.Min)
}

// A space is what is known of the room on the disk of a node.
type space struct {
	free int64 // bytes that were free at the last look, -1 where that cannot be known
	min  int64 // that a leader needs, 0 where nothing is needed
	low  bool  // less were free, and not enough since: this node does not lead
}

// marks returns what must be free for a node to lead, and what for it to go on at all. A disk of total bytes is not asked for most of them.
func (o *Options) marks(total int64) (lead, live int64) {
	switch {
	case o.MinFree < 0:
		return 0, 0
	case o.MinFree > 0:
		lead = o.MinFree
	default:
		lead = min(DefaultMinFree, total/diskShare)
	}
	return lead, lead / stopShare
}

// look looks at what is free. What the file system says may be late, so the answer is waited for as long as for a write.
//
// Errors: *SpaceError where it is too little to go on; *StallError; those of the file system.
func (l *Log) look() error {
	if l.opts.MinFree < 0 {
		return nil
	}
	type answer struct {
		free, total int64
		err         error
	}
	answered := make(chan answer, 1)
	go func() { // ends with the call
		free, total, err := l.opts.freeSpace(l.dir)
		answered <- answer{free, total, err}
	}()
	timer := time.NewTimer(l.opts.Stall)
	defer timer.Stop()
	var a answer
	select {
	case a = <-answered:
	case <-timer.C:
		return &StallError{After: l.opts.Stall}
	case <-l.quit:
		return nil
	}
	if a.err != nil {
		return a.err
	}
	lead, live := l.opts.marks(a.total)
	l.mu.Lock()
	was := l.space.low
	l.space.free, l.space.min = a.free, lead
	// Once low, a quarter more must be free, so that leadership does not go to and fro.
	l.space.low = a.free < lead || was && a.free < lead+lead/4
	low := l.space.low
	if low != was {
		if low {
			l.endTerm()
		}
		l.tell()
	}
	l.mu.Unlock()
	if low != was {
		if low {
			l.logger.Warn("driver log disk is nearly full, this node does not lead", "free", a.free, "needed", lead)
		} else {
			l.logger.Info("driver log disk has room again", "free", a.free)
		}
		l.events.add(func(t *Listener) {
			if t.SpaceChanged != nil {
				t.SpaceChanged(a.free, low)
			}
		})
	}
	if a.free < live {
		return &SpaceError{Dir: l.dir, Free: a.free, Min: live}
	}
	return nil
}

// watchSpace looks at what is free from time to time, and lets another node lead while it is too little.
func (l *Log) watchSpace() {
	if l.opts.MinFree < 0 {
		return
	}
	ticker := time.NewTicker(spaceEvery)
	defer ticker.Stop()
	var next time.Time // of an attempt to let another lead
	pause := spaceEvery
	var said error
	for {
		l.mu.Lock()
		changed, low := l.changed, l.space.low
		l.mu.Unlock()
		switch {
		case !low:
			pause = spaceEvery
		case l.raft.State() == raft.Leader && !time.Now().Before(next):
			l.giveWay()
			next = time.Now().Add(pause)
			pause = min(2*pause, lastYield)
		}
		select {
		case <-changed:
			continue
		case <-ticker.C:
		case <-l.poisoned:
			return
		case <-l.quit:
			return
		}
		err := l.look()
		var short *SpaceError
		var stall *StallError
		switch {
		case errors.As(err, &short), errors.As(err, &stall):
			l.fail(&PoisonError{Dir: l.dir, Op: "look for free space", Err: err})
			return
		case err != nil && (said == nil || said.Error() != err.Error()):
			l.logger.Warn("free space of the driver log's disk is not known", "error", err)
		}
		said = err
	}
}

// giveWay lets any other voter lead, each as likely: two that have no room must not let each other lead for ever, while a third has.
func (l *Log) giveWay() {
	var others []string
	for _, m := range l.Members() {
		if m.Voter && m.ID != l.id {
			others = append(others, m.ID)
		}
	}
	if len(others) > 0 {
		l.yield(l.ctx, others[rand.IntN(len(others))])
	}
}

// short returns why this node does not lead though it could, nil if nothing keeps it.
func (l *Log) short() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.space.low {
		return nil
	}
	return &SpaceError{Dir: l.dir, Free: l.space.free, Min: l.space.min}
}
