package executor

import (
	"github.com/leat-io/leat/lineage"
)

// A keeper stores a persisted partition piece by piece: in memory as long as there is room, else, if the
// level has disk, on disk, all of it. Once add has said no, what was added can be read back.
type keeper struct {
	store   *store
	st      *stored
	encode  bool // pieces are bytes
	metrics *lineage.Metrics

	held []Held
	size int64
	w    *partitionWriter // set when the pieces are on disk
}

func newKeeper(s *store, st *stored, isolate bool, m *lineage.Metrics) *keeper {
	return &keeper{store: s, st: st, encode: isolate, metrics: m}
}

// add stores a piece, or says that it cannot and why: errNoRoom, an error of the codec, or a *FileError.
func (k *keeper) add(h Held) (err error) {
	if k.encode {
		if h, err = k.encoded(h); err != nil {
			return err
		}
	}
	if k.w == nil && k.st.level.Memory {
		if h.Size() == 0 && h.Data == nil {
			h = hold(k.st.codec, h.Block)
		}
		if k.remember(h) {
			return nil
		}
		if !k.st.level.Deserialized && !k.encode && k.shrink() {
			if h, err = k.encoded(h); err != nil {
				return err
			}
			if k.remember(h) {
				return nil
			}
		}
	}
	if !k.st.level.Disk {
		return errNoRoom
	}
	if err := k.toDisk(); err != nil {
		return err
	}
	if h, err = k.encoded(h); err != nil {
		return err
	}
	return k.w.add(h)
}

func (k *keeper) encoded(h Held) (Held, error) {
	if h.Data != nil {
		return h, nil
	}
	defer timed(&k.metrics.EncodeTime)()
	return h.encoded("persisted partition", k.st.codec)
}

// remember keeps a piece in memory if there is room.
func (k *keeper) remember(h Held) bool {
	if !k.store.pool.keep(h.Size(), &k.st.owner, true, k.metrics) {
		return false
	}
	k.held = append(k.held, h)
	k.size += h.Size()
	return true
}

// shrink turns the pieces into bytes, where that saves memory: the level asks for it, and memory is short.
func (k *keeper) shrink() bool {
	for i, h := range k.held {
		e, err := k.encoded(h)
		if err != nil {
			return false
		}
		if e.Size() < h.Size() {
			k.held[i] = e
			k.size -= h.Size() - e.Size()
			k.store.pool.forget(h.Size() - e.Size())
		}
	}
	k.encode = true
	return true
}

// toDisk moves the pieces from memory to a file.
func (k *keeper) toDisk() error {
	if k.w != nil {
		return nil
	}
	w, err := k.store.disk.newPartition(k.st)
	if err != nil {
		return err
	}
	for _, h := range k.held {
		if h, err = k.encoded(h); err == nil {
			err = w.add(h)
		}
		if err != nil {
			_ = k.store.disk.discard(w.f)
			return err
		}
	}
	k.w = w
	k.giveBack()
	return nil
}

func (k *keeper) giveBack() {
	k.store.pool.forget(k.size)
	k.held, k.size = nil, 0
}

// finish returns what is kept.
func (k *keeper) finish() (*stored, error) {
	if k.w == nil {
		if k.held == nil {
			k.held = []Held{}
		}
		k.st.held, k.st.size = [][]Held{k.held}, k.size
		k.held, k.size = nil, 0
		return k.st, nil
	}
	f, err := k.w.finish()
	if err != nil {
		return nil, err
	}
	k.w = nil
	k.st.file = f
	return k.st, nil
}

// read yields what was added so far.
func (k *keeper) read(yield func(Held) error) (damage, stop error) {
	if k.w != nil {
		return k.w.read(yield)
	}
	for i := range k.held {
		h := k.held[i]
		k.held[i] = Held{} // it is not kept, so it should not be held either
		if err := yield(h); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// close gives up what was not finished.
func (k *keeper) close() {
	k.giveBack()
	if k.w != nil {
		_ = k.store.disk.discard(k.w.f)
		k.w = nil
	}
}
