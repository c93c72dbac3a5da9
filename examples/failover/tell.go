package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// tell says at times what the process has and what its log holds, until ctx ends. Nodes of one machine do so at the same moments: where no
// command is on its way, they then hold the same.
//
//	uses<TAB>goroutines<TAB>heap bytes after a collection
//	state<TAB>index<TAB>digest
//	state<TAB>index<TAB>digest of the log's own, under the index negated; it is taken after the same number of entries everywhere
func tell(ctx context.Context, every time.Duration, log *raftlog.Log, say *sayer) {
	for {
		now := time.Now()
		if pauseFor(ctx, now.Truncate(every).Add(every).Sub(now)) != nil {
			return
		}
		if state, err := log.State(ctx); err == nil { // otherwise it has stopped, or tells the next time
			say.line("state\t%d\t%x", int64(state.Index), state.Digest())
		}
		if s := log.Status(); s.DigestAt > 0 {
			say.line("state\t%d\t%x", -int64(s.DigestAt), s.Digest)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		say.line("uses\t%d\t%d", runtime.NumGoroutine(), m.HeapAlloc)
	}
}

// What a node has said that it uses.
type uses struct {
	goroutines int
	heap       int64
}

// agreed are what nodes have said that they hold, by index. Of very many the oldest are forgotten.
type agreed struct {
	first    map[int64]held
	order    []int64
	compared int // how often another node has said the same
}

type held struct {
	node   int
	digest string
}

// note takes note of what a node holds, and returns an error where another held something else.
func (a *agreed) note(node int, index int64, digest string) error {
	is, ok := a.first[index]
	switch {
	case ok && is.digest != digest:
		return fmt.Errorf("at index %d node %d holds %s, node %d held %s", index, node, digest, is.node, is.digest)
	case ok && is.node != node:
		a.compared++
	case !ok:
		if a.first == nil {
			a.first = map[int64]held{}
		}
		a.first[index] = held{node, digest}
		if a.order = append(a.order, index); len(a.order) > 1000 {
			delete(a.first, a.order[0])
			a.order = a.order[1:]
		}
	}
	return nil
}
