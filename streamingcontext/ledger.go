package streamingcontext

import (
	"context"
	"fmt"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// A ledger keeps the batches that are begun and not committed, oldest first, and writes the decisions
// about them into the driver log: Begin before any of a batch's work, Prepared and Committed when
// all its outputs have ended well and all batches before it are committed. A batch that failed stays, and
// all behind it, unless failed ones are set aside: then it is committed in its turn with a manifest that says so.
type ledger struct {
	log      driverlog.Log
	app      string
	epoch    uint64
	setAside bool // what is done with batches that failed
	forward  rollForward
	blobs    *blobs // where what is too long for the log goes; nil where nothing outlives the process
	// committed is called for each batch after it is committed, in order of the batches.
	committed func(ctx context.Context, b *batch) error

	commit  sync.Mutex   // held while decisions about ended batches are made; taken before mu
	repeats bool         // batches that were set aside are run again by the next process
	owed    []int64      // these, ascending; guarded by commit
	marks   []outputMark // of the prepared batches, by output; guarded by commit

	mu   sync.Mutex // guards the fields below
	next int64      // the id of the next batch
	open []*batch
	// repeated are batches of an earlier term that were committed and are run again; set before batches are made.
	repeated []*batch
	ticked   dstream.Time  // the last batch time whose generation is over
	halted   bool          // no more batches may begin
	changed  chan struct{} // closed by the next change; nil while nobody waits
}

// read starts a term's work with what the log knows of the application.
func (l *ledger) read(ctx context.Context) (driverlog.App, error) {
	state, err := l.log.State(ctx)
	if err != nil {
		return driverlog.App{}, err
	}
	app := state.App(l.app)
	l.next = app.Next
	return app, nil
}

// roll rolls the prepared batches of an earlier term forward and returns those that were begun only.
func (l *ledger) roll(ctx context.Context, app driverlog.App) (begun []driverlog.Batch, err error) {
	for i, b := range app.Open {
		if b.Prepared == 0 {
			return app.Open[i:], nil
		}
		staged, _, err := stagedOf(b.Manifest, l.blobs.read)
		if err != nil {
			return nil, fmt.Errorf("manifest of batch id %d: %w", b.ID, err)
		}
		if err := l.forward.commit(ctx, b.ID, b.Time, staged); err != nil {
			return nil, err
		}
		if err := l.propose(ctx, driverlog.Committed, b.ID, nil); err != nil {
			return nil, err
		}
		l.forward.clean(ctx, b.ID, b.Time, staged)
		l.marks = marked(l.marks, b.ID, staged)
	}
	return nil, nil
}

// abandon gives up batches that an earlier term has begun, whose input is gone with its process.
func (l *ledger) abandon(ctx context.Context, begun []driverlog.Batch) error {
	for _, b := range begun {
		m, err := appendStaged(manifest{kind: abandoned}.append(nil), l.owed, nil, l.marks, l.blobs.write)
		if err != nil {
			return err
		}
		if err := l.propose(ctx, driverlog.Prepared, b.ID, m); err != nil {
			return err
		}
		if err := l.propose(ctx, driverlog.Committed, b.ID, nil); err != nil {
			return err
		}
	}
	return nil
}

// adopt takes over a batch that an earlier term has begun, to be run again.
func (l *ledger) adopt(b driverlog.Batch) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	open := &batch{id: b.ID, time: dstream.Time(b.Time)}
	l.open = append(l.open, open)
	return open
}

func (l *ledger) propose(ctx context.Context, kind driverlog.Kind, id int64, m []byte) error {
	_, err := l.log.Propose(ctx, driverlog.Command{Kind: kind, Epoch: l.epoch, App: l.app, Batch: id, Manifest: m})
	if err != nil {
		return fmt.Errorf("%s of batch id %d: %w", kind, id, err)
	}
	return nil
}

// awaitRoom waits until another batch may begin: as long as too many are open, and for ever once a batch has failed
// that the context ends for.
//
// Errors: ctx's.
func (l *ledger) awaitRoom(ctx context.Context) error {
	for {
		l.mu.Lock()
		if len(l.open) < driverlog.Window && !l.halted {
			l.mu.Unlock()
			return nil
		}
		changed := l.changes()
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// halt lets no more batches begin.
func (l *ledger) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.halted = true
}

// begin records that batch t starts with these inputs.
func (l *ledger) begin(ctx context.Context, t dstream.Time, inputs []driverlog.Input) (*batch, error) {
	b := &batch{id: l.next, time: t} // next is written by this goroutine only
	_, err := l.log.Propose(ctx, driverlog.Command{
		Kind: driverlog.Begin, Epoch: l.epoch, App: l.app, Batch: b.id, Time: int64(t), Inputs: inputs,
	})
	if err != nil {
		return nil, fmt.Errorf("begin batch %s: %w", t, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	l.open = append(l.open, b)
	return b, nil
}

// whole records and commits a batch that has nothing to run, in one step of the log; begun is called when that is done. It
// returns false, and has done nothing, where batches before it are open or under way.
func (l *ledger) whole(ctx context.Context, t dstream.Time, inputs []driverlog.Input, begun func()) (bool, error) {
	if !l.commit.TryLock() { // whoever has it may wait for the caller
		return false, nil
	}
	defer l.commit.Unlock()
	if l.at(0) != nil {
		return false, nil
	}
	b := &batch{id: l.next, time: t}
	cmd := driverlog.Command{Kind: driverlog.Begin, Epoch: l.epoch, App: l.app, Batch: b.id}
	begin, prepared, committed := cmd, cmd, cmd
	begin.Time, begin.Inputs = int64(t), inputs
	// The newest manifest has all that is owed, and when each output staged last.
	m, err := appendStaged(manifest{kind: outputsDone}.append(nil), l.owed, nil, l.marks, l.blobs.write)
	if err != nil {
		return false, fmt.Errorf("manifest of batch %s: %w", t, err)
	}
	prepared.Kind, prepared.Manifest = driverlog.Prepared, m
	committed.Kind = driverlog.Committed
	if _, err := l.log.ProposeAll(ctx, []driverlog.Command{begin, prepared, committed}); err != nil {
		return false, fmt.Errorf("begin batch %s: %w", t, err)
	}
	l.mu.Lock()
	l.next++
	l.mu.Unlock()
	begun()
	return true, l.committed(ctx, b)
}

// end takes note that all jobs of b have ended, and commits what can be committed now: b and those behind
// it that waited for it. tell is called just before b counts as settled. It returns the error of the oldest open
// batch where that has failed and stays: all before it are done then.
func (l *ledger) end(ctx context.Context, b *batch, tell func()) (failed, err error) {
	l.commit.Lock()
	defer l.commit.Unlock()
	b.ended = true
	done := 0
	if b.repeated {
		_, cause := b.failure()
		if l.owe(b, cause != nil); !l.setAside {
			failed = cause
		}
	}
	head := l.at(0)
	for ; head != nil && head.ended; head = l.at(done) {
		var buf [16]byte
		m := buf[:0]
		outputs, cause := head.failure()
		if cause == nil {
			m = head.plan.append(m)
		} else if l.setAside {
			m = head.plan.appendFailed(m, cause, outputs)
		} else {
			failed = cause
			break
		}
		l.owe(head, len(outputs) > 0)
		if err := l.close(ctx, head, m); err != nil {
			return nil, err
		}
		done++
	}
	tell()
	// At once, so that nobody sees a batch that has ended and that its turn has not come to yet.
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(l.open, l.open[done:])
	clear(l.open[n:])
	l.open = l.open[:n]
	b.settled = true
	l.change()
	return failed, nil
}

// close prepares a batch with a manifest, commits what its outputs have staged, and the batch.
func (l *ledger) close(ctx context.Context, b *batch, m []byte) error {
	staged := b.decided()
	m, err := appendStaged(m, l.owed, staged, l.marks, l.blobs.write)
	if err != nil {
		return fmt.Errorf("manifest of batch %s: %w", b.time, err)
	}
	if err := l.propose(ctx, driverlog.Prepared, b.id, m); err != nil {
		return err
	}
	l.marks = marked(l.marks, b.id, staged)
	// From here on the batch is decided: who leads next does the same.
	if err := l.forward.commit(ctx, b.id, int64(b.time), staged); err != nil {
		return err
	}
	if err := l.propose(ctx, driverlog.Committed, b.id, nil); err != nil {
		return err
	}
	l.forward.clean(ctx, b.id, int64(b.time), staged)
	return l.committed(ctx, b)
}

// at returns the open batch at position i, nil behind the last. Only end removes batches.
func (l *ledger) at(i int) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i >= len(l.open) {
		return nil
	}
	return l.open[i]
}

// tickOver says that the generation of batch t is over, whatever came of it.
func (l *ledger) tickOver(t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticked = max(l.ticked, t)
	l.change()
}

// awaitSettled waits until batch t and all before it are generated and their jobs have ended.
//
// Errors: ctx's; dstream.ErrContextStopped where dropped is closed before.
func (l *ledger) awaitSettled(ctx context.Context, t dstream.Time, dropped <-chan struct{}) error {
	for {
		l.mu.Lock()
		if l.ticked >= t && l.settledUpTo(t) {
			l.mu.Unlock()
			return nil
		}
		changed := l.changes()
		l.mu.Unlock()
		select {
		case <-changed:
		case <-dropped:
			return dstream.ErrContextStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *ledger) settledUpTo(t dstream.Time) bool {
	for _, b := range l.open {
		if b.time <= t && !b.settled {
			return false
		}
	}
	for _, b := range l.repeated {
		if b.time <= t && !b.settled {
			return false
		}
	}
	return true
}

// waiting returns how many open batches have not started, and the oldest of them.
func (l *ledger) waiting() (n int, oldest *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.open {
		if !b.waits() {
			continue
		}
		if n++; oldest == nil {
			oldest = b
		}
	}
	return n, oldest
}

// pending returns the times of the batches begun and not committed.
func (l *ledger) pending() []dstream.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	var times []dstream.Time
	for _, b := range l.open {
		times = append(times, b.time)
	}
	return times
}

// changes returns the channel that the next change closes. mu is held.
func (l *ledger) changes() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// change wakes those who wait. mu is held.
func (l *ledger) change() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}
