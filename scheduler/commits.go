package scheduler

import "sync"

// commits decides which attempt of a partition may make its output visible: the first one that asks,
// until it ends other than by a success that counts. Tasks ask from any goroutine, so an answer is as
// good as a decision: what the loop learns later does not take it back.
//
// mu guards running, and of stages and attempts the fields that say so. Only the loop changes
// running, and reads it without the lock.
type commits struct {
	mu      sync.Mutex
	running map[TaskID]*attempt
}

// A stageCommits is what is decided about one stage. It lasts from the stage's submission over all of
// its attempts to its end.
type stageCommits struct {
	open    bool
	floor   int            // stage attempts below it have been rolled back
	holders map[int]TaskID // by key, as in setTask
}

func newCommits() *commits { return &commits{running: map[TaskID]*attempt{}} }

// begin makes requests of a stage's attempts possible.
func (c *commits) begin(st *stage) {
	c.mu.Lock()
	st.commits.open = true
	c.mu.Unlock()
}

// end forgets what was decided about a stage. Whoever asks later is denied.
func (c *commits) end(st *stage) {
	c.mu.Lock()
	st.commits.open, st.commits.holders = false, nil
	c.mu.Unlock()
}

// add lets an attempt ask.
func (c *commits) add(a *attempt) {
	c.mu.Lock()
	c.running[a.task.ID] = a
	c.mu.Unlock()
}

// remove takes out an attempt that is over, and notes whether it holds its partition.
func (c *commits) remove(a *attempt) {
	c.mu.Lock()
	delete(c.running, a.task.ID)
	a.holds = a.set.stage.commits.holders[a.key()] == a.task.ID
	c.mu.Unlock()
}

// revoke denies an attempt whatever it asks from now on.
func (c *commits) revoke(a *attempt) {
	c.mu.Lock()
	a.revoked = true
	c.mu.Unlock()
}

// free lets the next one have the partition of an attempt that is over, if it held it.
func (c *commits) free(a *attempt) {
	if a.holds {
		a.holds = false
		c.reopen(a.set.stage, a.key())
	}
}

// reopen lets the next one have a partition, whoever held it.
func (c *commits) reopen(st *stage, key int) {
	c.mu.Lock()
	delete(st.commits.holders, key)
	c.mu.Unlock()
}

// rollBack denies the attempts of a stage so far. It reports false, and does nothing, if some attempt
// of a result stage has been told that it may commit: what it does then cannot be undone.
func (c *commits) rollBack(st *stage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.shuffle == nil && len(st.commits.holders) > 0 {
		return false
	}
	st.commits.floor, st.commits.holders = st.attempts, nil
	return true
}

// may decides about a running attempt. Whoever holds its partition may ask again.
func (c *commits) may(id TaskID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.running[id]
	if a == nil || a.revoked {
		return false
	}
	sc := &a.set.stage.commits
	if !sc.open || a.set.attempt < sc.floor {
		return false
	}
	if holder, held := sc.holders[a.key()]; held {
		return holder == id
	}
	if sc.holders == nil {
		sc.holders = map[int]TaskID{}
	}
	sc.holders[a.key()] = id
	return true
}

// key returns what the attempt's partition is called within its stage.
func (a *attempt) key() int { return a.set.tasks[a.index].key }
