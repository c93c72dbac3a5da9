package executor

import "github.com/leat-io/leat/lineage"

// A promotion puts a partition that is read from disk back into memory, if its level says so and there is
// room: it pushes nothing out.
type promotion struct {
	store  *store
	st     *stored // nil: there is nothing to promote
	codec  lineage.Codec
	bytes  bool
	held   []Held
	size   int64
	closed bool
}

func newPromotion(s *store, v view, codec lineage.Codec, isolate bool) *promotion {
	if v.file == nil || !v.st.level.Memory {
		return nil
	}
	return &promotion{store: s, st: v.st, codec: codec, bytes: isolate || !v.st.level.Deserialized}
}

// add takes a block as it was read.
func (p *promotion) add(h Held, b lineage.Block) {
	if p == nil || p.closed {
		return
	}
	if !p.bytes {
		h = hold(p.codec, b)
	}
	if !p.store.pool.keep(h.Size(), &p.st.owner, false, nil) {
		p.close()
		return
	}
	p.held = append(p.held, h)
	p.size += h.Size()
}

// finish puts all blocks into memory.
func (p *promotion) finish() {
	if p == nil || p.closed {
		return
	}
	p.closed = true
	p.store.promote(p.st, p.held, p.size)
}

// close gives up what was not finished.
func (p *promotion) close() {
	if p == nil || p.closed {
		return
	}
	p.closed = true
	p.store.pool.forget(p.size)
	p.held = nil
}
