package rdd

import "iter"

// FlatMapSeq returns the RDD of the records of the sequence f(x) for every x, in order. It is FlatMap for records that are
// better made one by one than as a slice.
//
// Shape: any number of records out for one in, nil for none; a sequence may be endless if the reader stops. Same
// partitions; no partitioner.
// Cost: one call of f a record in and one through the sequence a record out.
// Errors: a panic of f or of the sequence is a *UserError naming this call, the partition and the record.
func FlatMapSeq[T, U any](r *RDD[T], f func(T) iter.Seq[U]) *RDD[U] {
	if f == nil {
		return broken[U](r.ctx, "flatMapSeq", ErrNilFunction)
	}
	return pipe(r, "flatMapSeq", func(at *place, _ *task, out sink[U]) (sink[T], func() error) {
		p := chunker[U]{out: out}
		return func(in []T) error {
			err := seqChunk(at, in, &p, f)
			at.seen += int64(len(in))
			return err
		}, nil
	})
}

// chunker gathers records into chunks and pushes them.
type chunker[U any] struct {
	out     sink[U]
	buf     []U
	pushing bool // a panic is the sink's then
}

func (c *chunker[U]) add(u U) error {
	if c.buf = append(c.buf, u); len(c.buf) < chunkSize {
		return nil
	}
	return c.flush()
}

func (c *chunker[U]) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	c.pushing = true
	err := c.out(c.buf)
	c.pushing = false
	c.buf = c.buf[:0]
	return err
}

func seqChunk[T, U any](at *place, in []T, p *chunker[U], f func(T) iter.Seq[U]) (err error) {
	i := 0
	defer func() {
		if p.pushing {
			return
		}
		if v := recover(); v != nil {
			err = done(p.out, p.buf, at.panicked(i, v))
		}
	}()
	for j := range in {
		i = j
		rows := f(in[j])
		if rows == nil {
			continue
		}
		for u := range rows {
			if err := p.add(u); err != nil {
				return err
			}
		}
	}
	return p.flush()
}
