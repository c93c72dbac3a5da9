package executor

import (
	"context"
	"fmt"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A broadcasts holds the values that tasks of an executor have read, each decoded once. mu guards the
// table and the values until they are ready.
type broadcasts struct {
	mu    sync.RWMutex
	table map[lineage.BroadcastID]*broadcast
}

// A broadcast is a value, or the lock of the task that fetches it.
type broadcast struct {
	ready chan struct{}
	value lineage.Block
	ok    bool // set before ready is closed
}

// Broadcast returns the executor's value of b. Of the tasks that ask first one fetches and decodes it. A
// failure is that task's alone: the next one tries again.
func (e *env) Broadcast(ctx context.Context, b *lineage.Broadcast) (lineage.Block, error) {
	t := &e.executor.broadcasts
	for {
		t.mu.RLock()
		v := t.table[b.ID]
		t.mu.RUnlock()
		if v == nil {
			t.mu.Lock()
			if v = t.table[b.ID]; v == nil {
				v = &broadcast{ready: make(chan struct{})}
				if t.table == nil {
					t.table = map[lineage.BroadcastID]*broadcast{}
				}
				t.table[b.ID] = v
				t.mu.Unlock()
				return e.fetchBroadcast(ctx, b, v)
			}
			t.mu.Unlock()
		}
		if err := e.wait(ctx, v.ready); err != nil {
			return nil, fmt.Errorf("wait for broadcast %d: %w", b.ID, err)
		}
		if v.ok {
			return v.value, nil
		}
	}
}

func (e *env) fetchBroadcast(ctx context.Context, b *lineage.Broadcast, v *broadcast) (lineage.Block, error) {
	t := &e.executor.broadcasts
	defer func() { // also after a panic
		if !v.ok {
			t.mu.Lock()
			if t.table[b.ID] == v {
				delete(t.table, b.ID)
			}
			t.mu.Unlock()
		}
		close(v.ready)
	}()
	data, err := b.Fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch broadcast %d: %w", b.ID, err)
	}
	defer timed(&e.metrics.DecodeTime)()
	value, err := b.Codec.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode broadcast %d: %w", b.ID, err)
	}
	v.value, v.ok = value, true
	return value, nil
}

// wait waits for another task of the executor, which must not wait for what this one has reserved.
func (e *env) wait(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	default:
	}
	defer e.executor.pool.pause(&e.share)()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *broadcasts) drop(ids []lineage.BroadcastID) {
	if len(ids) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		delete(t.table, id)
	}
}

func (t *broadcasts) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.table)
}
