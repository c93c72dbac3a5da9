package rdd

// heldRows are rows that are taken first and read, once and in order, afterwards: in memory, or in a scratch file
// where memory is refused.
type heldRows[T any] struct {
	at      *place
	columns *lazyCodec[T]
	rows    []T
	sample  sampler[T]
	budget  budget
	n       int64
	spool   *spool
	file    *spilled[T]
	reader  *spillReader[T]
}

func newHeldRows[T any](t *task, at *place, columns *lazyCodec[T]) *heldRows[T] {
	return &heldRows[T]{at: at, columns: columns, sample: newSampler[T](), budget: newBudget(t)}
}

// close gives back memory and removes the file.
func (h *heldRows[T]) close() {
	h.budget.release()
	h.spool.close()
}

// take takes rows.
func (h *heldRows[T]) take(chunk []T) error {
	h.n += int64(len(chunk))
	if h.file == nil {
		h.rows = append(h.rows, chunk...)
		h.sample.see(chunk)
		if h.budget.fits(h.sample.memory(len(h.rows), cap(h.rows))) {
			return nil
		}
		h.spool = newSpool(h.budget.t, h.at)
		h.file = newSpilled(h.spool, h.columns)
		chunk, h.rows = h.rows, nil
	}
	for i := range chunk {
		if err := h.file.add(&chunk[i], 0); err != nil {
			return err
		}
	}
	h.budget.release()
	return nil
}

// next returns the next rows, at most n; none at the end. They are good until it is called again.
func (h *heldRows[T]) next(n int) ([]T, error) {
	if h.file == nil {
		n = min(n, len(h.rows))
		rows := h.rows[:n:n]
		h.rows = h.rows[n:]
		return rows, nil
	}
	if h.reader == nil {
		if err := h.file.flush(); err != nil {
			return nil, err
		}
		h.reader = h.file.reader()
	}
	ok, err := h.reader.more()
	if !ok {
		return nil, err
	}
	r := h.reader
	n = min(n, len(r.rows)-r.at)
	rows := r.rows[r.at : r.at+n : r.at+n]
	r.at += n
	return rows, nil
}
