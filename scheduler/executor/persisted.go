package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Persisted looks in the own store, then at the executors the task was told of, and computes what
// none of them has. What came from another executor is not kept here.
func (e *env) Persisted(ctx context.Context, node lineage.NodeID, part int, p lineage.Persistence, compute func(put func(lineage.Block) error) error, yield func(lineage.Block) error) error {
	id := scheduler.BlockID{Node: node, Part: part}
	for {
		v, en, mine := e.executor.store.claim(id)
		switch {
		case en == nil:
			e.found(id)
			return e.readKept(v, p, yield)
		case mine:
			m := &maker{env: e, ctx: ctx, id: id, p: p, entry: en, yield: yield}
			return m.make(compute)
		}
		if err := e.wait(ctx, en.ready); err != nil {
			return fmt.Errorf("wait for partition %d of %s: %w", part, node, err)
		}
		// If whoever was making it failed, or could not keep it, this task makes it.
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}

// found reports a partition that is kept here and that the task was not told of: the task that keeps it may not have
// ended, so the driver may not know. Whoever this task ends for relies on what it has seen.
func (e *env) found(id scheduler.BlockID) {
	here := func(c scheduler.CachedBlock) bool {
		return c.BlockID == id && slices.Contains(c.Executors, e.executor.opts.ID)
	}
	if !slices.ContainsFunc(e.task.Cached, here) && !slices.ContainsFunc(e.stored, here) {
		e.stored = append(e.stored, scheduler.CachedBlock{BlockID: id, Executors: []scheduler.ExecutorID{e.executor.opts.ID}})
	}
}

// readKept yields the blocks of a partition that is kept here. One that cannot be read is forgotten, and
// the attempt fails: the next one computes.
func (e *env) readKept(v view, p lineage.Persistence, yield func(lineage.Block) error) error {
	defer v.close()
	st := e.executor.store
	promote := newPromotion(st, v, p.Codec, e.executor.opts.Isolate)
	defer promote.close()
	var bad error
	damage, stop := v.read(0, 0, func(h Held) error {
		b, err := e.open(h, p.Codec)
		if err != nil {
			bad = err
			return err
		}
		promote.add(h, b)
		return yield(b)
	})
	id := v.st.block()
	switch {
	case damage == nil && bad == nil && stop == nil:
		promote.finish()
		return nil
	case damage == nil && bad == nil:
		return stop
	case damage == nil && !errors.Is(bad, errDamaged): // it is what was written: the codec does not fit
		return &scheduler.CodecError{Doing: fmt.Sprintf("read partition %d of %s", id.Part, id.Node), Err: bad}
	case damage == nil:
		damage = bad
	}
	if st.drop(v.st) {
		e.executor.lost([]scheduler.BlockID{id})
	}
	return fmt.Errorf("read partition %d of %s: %w", id.Part, id.Node, damage)
}

// A maker makes a persisted partition that its task has claimed.
type maker struct {
	env     *env
	ctx     context.Context // of the call of Persisted, which the maker ends with
	id      scheduler.BlockID
	p       lineage.Persistence
	entry   *entry
	settled bool
	yield   func(lineage.Block) error

	keeper *keeper
	direct bool  // nothing is kept: blocks go straight to yield
	stop   error // that put or yield has ended with, whatever compute makes of it
}

func (m *maker) settle(st *stored) (v view, kept bool) {
	if m.settled {
		return view{}, false
	}
	m.settled = true
	return m.env.executor.store.settle(m.id, m.entry, st)
}

// make yields the blocks of the partition, and gives the claim up however that ends.
func (m *maker) make(compute func(put func(lineage.Block) error) error) error {
	defer m.settle(nil) // what fails, also by a panic
	if done, err := m.remote(); done {
		return err
	}
	e := m.env
	st := &stored{owner: ofNode(m.id.Node), part: m.id.Part, level: m.p.Level, codec: m.p.Codec}
	m.keeper = newKeeper(e.executor.store, st, e.executor.opts.Isolate, &e.metrics)
	defer m.keeper.close()
	err := compute(m.put)
	switch {
	case m.stop != nil:
		return m.stop
	case err != nil || m.direct:
		return err
	}
	if st, err = m.keeper.finish(); err != nil {
		return m.handOn(nil)
	}
	v, kept := m.settle(st)
	if !kept {
		defer e.executor.store.drop(st)
		return e.readKept(v, m.p, m.yield)
	}
	e.metrics.KeptPartitions++
	holders := append([]scheduler.ExecutorID{e.executor.opts.ID}, m.replicate(v)...)
	e.stored = append(e.stored, scheduler.CachedBlock{BlockID: m.id, Executors: holders})
	return e.readKept(v, m.p, m.yield)
}

// put takes a computed block.
func (m *maker) put(b lineage.Block) error {
	if m.direct || m.stop != nil {
		return m.pass(b)
	}
	err := m.keeper.add(Held{Block: b})
	if err == nil {
		return nil
	}
	var codec *scheduler.CodecError
	if errors.As(err, &codec) && m.env.executor.opts.Isolate {
		m.stop = err // under Isolate what cannot be encoded fails its job, wherever it goes
		return err
	}
	return m.handOn(b)
}

// handOn gives up keeping the partition: what there is of it goes to yield, and so does all that follows. Those
// who wait for it compute for themselves.
func (m *maker) handOn(last lineage.Block) error {
	m.direct = true
	m.settle(nil)
	m.env.metrics.KeptFailed++
	var bad error
	damage, _ := m.keeper.read(func(h Held) error {
		b, err := m.env.open(h, m.p.Codec)
		if err != nil {
			bad = err
			return err
		}
		return m.pass(b)
	})
	m.keeper.close()
	if damage == nil {
		damage = bad
	}
	switch {
	case m.stop != nil:
		return m.stop
	case damage != nil:
		m.stop = fmt.Errorf("read back partition %d of %s: %w", m.id.Part, m.id.Node, damage)
		return m.stop
	case last == nil:
		return nil
	}
	return m.pass(last)
}

func (m *maker) pass(b lineage.Block) error {
	if m.stop == nil {
		m.stop = m.yield(b)
	}
	return m.stop
}

// remote yields a partition from the first executor that still has it. One that cannot be read is as
// good as absent, unless some of it has been yielded already.
func (m *maker) remote() (done bool, err error) {
	e := m.env
	peers := e.executor.opts.Peers
	i := slices.IndexFunc(e.task.Cached, func(c scheduler.CachedBlock) bool { return c.BlockID == m.id })
	if i < 0 || peers == nil {
		return false, nil
	}
	for _, from := range e.task.Cached[i].Executors {
		if from == e.executor.opts.ID {
			continue
		}
		waiting := newWaitClock(&e.metrics.WaitTime)
		err := peers.Persisted(m.ctx, from, m.id, func(h Held) error {
			waiting.pause()
			defer waiting.resume()
			b, err := e.open(h, m.p.Codec)
			if err != nil {
				return err
			}
			m.settle(nil) // before others wait for what the blocks are used for
			return m.pass(b)
		})
		waiting.pause()
		switch {
		case m.stop != nil:
			return true, m.stop
		case err == nil:
			return true, nil
		case m.settled:
			return true, fmt.Errorf("read partition %d of %s from %s: %w", m.id.Part, m.id.Node, from, err)
		}
	}
	return false, nil
}

// replicate stores copies of a partition on other executors and returns who has one.
func (m *maker) replicate(v view) []scheduler.ExecutorID {
	peers, copies := m.env.executor.opts.Peers, m.p.Level.Replicas-1
	if peers == nil || copies <= 0 {
		return nil
	}
	return peers.Replicate(m.ctx, m.env.executor.opts.ID, m.id, m.p, copies, func(yield func(Held) error) error {
		damage, stop := v.read(0, 0, yield)
		return errors.Join(damage, stop)
	})
}
