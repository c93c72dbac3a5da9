package executor

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A buckets takes what one map task writes: in memory as long as there is room, then, all of it, in a file.
type buckets struct {
	env   *env
	st    *stored // what it will be
	held  [][]Held
	sizes []int64
	room  int64         // of the pool
	used  int64         // of room
	file  *outputWriter // nil: all is in memory
	err   error         // the first that Put has answered, whatever the task makes of it
}

// write runs a map task and keeps its buckets.
func (e *Executor) write(ctx context.Context, env *env, s *lineage.Shuffle) (scheduler.MapStatus, error) {
	part := env.task.Attempt.Partition
	o := &buckets{env: env, held: make([][]Held, s.NumReducers), sizes: make([]int64, s.NumReducers),
		st: &stored{owner: s.ID, part: part, task: int64(env.task.ID), codec: s.Codec}}
	defer o.close() // also after a panic
	err := s.Write(ctx, env, part, o)
	if o.err != nil {
		err = o.err
	}
	if err != nil {
		return scheduler.MapStatus{}, err
	}
	if err := o.commit(); err != nil {
		return scheduler.MapStatus{}, err
	}
	for _, n := range o.sizes {
		env.metrics.ShuffleBytes += n
	}
	return scheduler.MapStatus{Sizes: scheduler.SizesOf(o.sizes)}, nil
}

// Put keeps a block.
func (o *buckets) Put(reduce int, b lineage.Block) error {
	if o.err == nil {
		o.err = o.put(reduce, b)
	}
	return o.err
}

func (o *buckets) put(reduce int, b lineage.Block) (err error) {
	if reduce < 0 || reduce >= len(o.held) {
		return &scheduler.CodecError{Doing: fmt.Sprintf("write shuffle %s", o.st.owner),
			Err: fmt.Errorf("bucket %d of %d", reduce, len(o.held))}
	}
	var h Held
	if o.env.executor.opts.Isolate {
		if h, err = o.encoded(Held{Block: b}); err != nil {
			return err
		}
	} else if o.file == nil {
		h = hold(o.st.codec, b)
	}
	if o.file == nil {
		if size := max(h.Size(), 1); o.reserve(size) {
			o.held[reduce] = append(o.held[reduce], h)
			o.sizes[reduce] += size
			return nil
		}
		if err := o.toFile(); err != nil {
			return err
		}
	}
	if h.Data == nil {
		if h, err = o.encoded(Held{Block: b}); err != nil {
			return err
		}
	}
	defer timed(&o.env.metrics.ShuffleTime)()
	return o.file.add(reduce, h)
}

// toFile moves what there is from memory to a file, so that others have the memory.
func (o *buckets) toFile() (err error) {
	if o.file, err = o.env.executor.disk.newOutput(o.st, len(o.held)); err != nil {
		return err
	}
	for i, held := range o.held {
		for _, h := range held {
			if h, err = o.encoded(h); err == nil {
				err = o.file.add(i, h)
			}
			if err != nil {
				return err
			}
		}
		o.held[i] = nil
	}
	o.giveBack()
	return nil
}

func (o *buckets) encoded(h Held) (Held, error) {
	defer timed(&o.env.metrics.EncodeTime)()
	return h.encoded("bucket", o.st.codec)
}

// reserve finds room for a block. It asks the pool for twice as much each time, so that many small blocks
// do not ask often; what is left over goes back in the end.
func (o *buckets) reserve(n int64) bool {
	if o.used+n > o.room {
		pool, ask := o.env.executor.pool, o.used+n-o.room
		switch {
		case o.used > ask && pool.keep(o.used, &o.st.owner, false, nil):
			o.room += o.used
		case pool.keep(ask, &o.st.owner, true, &o.env.metrics):
			o.room += ask
		default:
			return false
		}
	}
	o.used += n
	return true
}

// commit makes what was put the map task's output: all of it in memory or, once some had no room
// there, all of it on disk.
func (o *buckets) commit() error {
	ex := o.env.executor
	if o.file == nil {
		ex.pool.forget(o.room - o.used)
		o.st.held, o.st.size = o.held, o.used
		o.room, o.used = 0, 0
		ex.store.putOutput(o.st)
		return nil
	}
	defer timed(&o.env.metrics.ShuffleTime)()
	f, lengths, err := o.file.finish()
	if err != nil {
		return err
	}
	o.st.file, o.sizes, o.file = f, lengths, nil
	ex.store.putOutput(o.st)
	return nil
}

func (o *buckets) giveBack() {
	o.env.executor.pool.forget(o.room)
	o.room, o.used = 0, 0
}

// close gives up what was not committed.
func (o *buckets) close() {
	o.giveBack()
	if o.file != nil {
		o.file.discard()
	}
}
