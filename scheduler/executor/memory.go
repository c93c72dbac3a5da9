package executor

import (
	"context"
	"math"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A pool is the memory of one executor, one budget of bytes that running tasks (reserved) and kept blocks
// (stored) share:
//
//	0             reserved               total-stored    total/2             total
//	|---- tasks -----|......... free ........|------------- blocks -------------|
//	                                         blocks that lie to the left of total/2 are borrowed:
//	                                         tasks may push them out; blocks never push out tasks
//
// With n tasks that have reserved something, one may hold up to total/n. One that holds less than
// total/2n waits for that much, as long as there is a task that can give something back.
//
// mu guards all fields and the shares. evict is called without it.
type pool struct {
	total int64
	// evict makes room among the stored blocks that are not of owner and says how much it found; all
	// set, it takes nothing unless it can find all of need. What it found still counts as stored.
	evict func(need int64, owner *lineage.ShuffleID, all bool, m *lineage.Metrics) int64

	mu       sync.Mutex
	reserved int64
	stored   int64
	shares   []*share
	demand   int64         // what tasks are waiting for
	changed  chan struct{} // closed when waiting tasks should look again; nil if none waits
}

// A share is what one task has reserved.
type share struct {
	held, peak int64
	active     bool // whether it counts among the pool's shares
	idle       int  // not 0: the task waits for others and gives nothing back
}

// unlimited is a budget that sums never reach and never overflow.
const unlimited = math.MaxInt64 / 4

func newPool(total int64) *pool {
	if total <= 0 || total > unlimited {
		total = unlimited
	}
	return &pool{total: total, evict: func(int64, *lineage.ShuffleID, bool, *lineage.Metrics) int64 { return 0 }}
}

// reserve gives n bytes to a task, or says that there is no room for them.
func (p *pool) reserve(ctx context.Context, s *share, n int64, m *lineage.Metrics) bool {
	if n <= 0 {
		return true
	}
	if n > p.total {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !s.active {
		s.active = true
		p.shares = append(p.shares, s)
		p.wake() // what each may hold is less now
	}
	evicted, waiting := false, false
	defer func() {
		if waiting {
			s.idle--
		}
	}()
	for {
		tasks := int64(len(p.shares))
		if s.held+n > p.total/tasks {
			return false
		}
		entitled := s.held+n <= p.total/(2*tasks)
		room := p.total - p.reserved - p.stored
		if !entitled { // those who wait for their minimum come first
			room -= p.demand
		}
		if n <= room {
			p.reserved += n
			s.held += n
			s.peak = max(s.peak, s.held)
			return true
		}
		if borrowed := p.stored - p.total/2; borrowed > 0 && !evicted {
			evicted = true
			need := min(borrowed, n-room)
			p.mu.Unlock()
			freed := p.evict(need, nil, false, m)
			p.mu.Lock()
			if p.stored -= freed; freed > 0 {
				p.wake() // it may be more than was needed
			}
			continue
		}
		if !entitled || !p.movable(s) || ctx.Err() != nil {
			return false
		}
		if !waiting {
			// Whoever waits for this task to give something back must not do so any longer.
			waiting = true
			s.idle++
			p.wake()
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.demand += n
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
		p.demand -= n
		evicted = false
	}
}

// movable reports whether a task other than s holds something and can still come to give it back.
func (p *pool) movable(s *share) bool {
	for _, o := range p.shares {
		if o != s && o.held > 0 && o.idle == 0 {
			return true
		}
	}
	return false
}

func (p *pool) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// release takes n bytes back from a task.
func (p *pool) release(s *share, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(n, s.held)
	if n <= 0 {
		return
	}
	s.held -= n
	p.reserved -= n
	p.wake()
}

// leave ends a task's share.
func (p *pool) leave(s *share) {
	if !s.active { // only the task's own goroutine changes it
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= s.held
	s.held, s.active = 0, false
	for i, o := range p.shares {
		if o == s {
			p.shares = append(p.shares[:i], p.shares[i+1:]...)
			break
		}
	}
	p.wake()
}

// pause says that a task begins to wait for another one, by other means than reserve. The returned
// function says that it goes on.
func (p *pool) pause(s *share) (resume func()) {
	if !s.active {
		return func() {}
	}
	p.mu.Lock()
	s.idle++
	p.wake()
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		s.idle--
		p.mu.Unlock()
	}
}

// keep finds n bytes for a block of owner. It pushes out others if it must and may, and does not wait.
func (p *pool) keep(n int64, owner *lineage.ShuffleID, mayEvict bool, m *lineage.Metrics) bool {
	if n > p.total {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	freed := int64(0) // pushed out for this block; others cannot take it meanwhile
	for {
		over := p.reserved + p.stored - freed + n - p.total
		if p.stored-freed+n > p.total/2 {
			over += p.demand
		}
		if over <= 0 {
			p.stored += n - freed
			if freed > n {
				p.wake()
			}
			return true
		}
		if got := int64(0); mayEvict && over <= p.stored-freed {
			p.mu.Unlock()
			got = p.evict(over, owner, true, m)
			p.mu.Lock()
			if got > 0 {
				freed += got
				continue
			}
		}
		if freed > 0 {
			p.stored -= freed
			p.wake()
		}
		return false
	}
}

// forget takes back the room of a block.
func (p *pool) forget(n int64) {
	if n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored -= n
	p.wake()
}

func (p *pool) sums() (reserved, stored int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reserved, p.stored
}
