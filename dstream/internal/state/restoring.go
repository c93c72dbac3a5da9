package state

import (
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// maxEntries is what a table has room for.
const maxEntries = 1 << 30

// Restored returns the version that was written last to files, as codec.Incremental says. It has the same entries under the same
// numbers, so the next file may follow it.
//
// Cost: one pass over the files and one over the entries.
func (v *Version[K, S]) Restored(files int, read func(file int, yield func(frame []byte) error) error) (*Version[K, S], error) {
	r, err := NewRestoring[K, S]()
	if err != nil {
		return nil, err
	}
	for f := range files {
		r.NextFile()
		if err := read(f, r.Frame); err != nil {
			return nil, err
		}
	}
	return r.Version()
}

// A Restoring makes a version from the frames of WriteSince. It belongs to one goroutine.
type Restoring[K comparable, S any] struct {
	hasher     *keyed.Hasher[K]
	keyCodec   *codec.Codec[K]
	stateCodec *codec.Codec[S]

	headless bool // the file has no head yet
	entries  int  // of the version of the file
	chunks   []chunk[K, S]
	ranged   int // entries in ranges so far
}

// chunk is a frame of entries.
type chunk[K comparable, S any] struct {
	first  int // of a range
	keys   []K
	at     []int32 // of changes
	states []S
	gone   []byte // nil where none is
}

// NewRestoring returns one that has seen no file.
func NewRestoring[K comparable, S any]() (*Restoring[K, S], error) {
	r := &Restoring[K, S]{headless: true}
	var err error
	if r.hasher, err = keyed.HasherFor[K](); err == nil {
		r.keyCodec, err = codec.For[K]()
	}
	if err == nil {
		r.stateCodec, err = codec.For[S]()
	}
	if err != nil {
		return nil, fmt.Errorf("decode state: %w", err)
	}
	return r, nil
}

// NextFile begins a file, which is newer than those before.
func (r *Restoring[K, S]) NextFile() { r.headless = true }

// Frame takes a frame of the file, which is the caller's again afterwards.
//
// Errors: codec.ErrCorrupt.
func (r *Restoring[K, S]) Frame(frame []byte) error {
	p := &frameReader{rest: frame}
	kind := p.byte()
	if (kind == frameHead) != r.headless {
		return corrupt("a frame of kind %d where there must be another", kind)
	}
	switch kind {
	case frameHead:
		return r.head(p)
	case frameRange:
		return r.add(r.rangeOf(p))
	case frameChanges:
		return r.add(r.changesOf(p))
	}
	return corrupt("a frame of kind %d", kind)
}

func (r *Restoring[K, S]) head(p *frameReader) error {
	version := p.byte()
	entries := p.number(maxEntries)
	from, to := p.number(maxEntries), p.number(maxEntries)
	switch {
	case version != framesVersion:
		return corrupt("version %d of state", version)
	case p.bad || len(p.rest) > 0 || !(codec.Span{Entries: int64(entries), From: int64(from), To: int64(to)}).Valid():
		return corrupt("the head of a file of state")
	case entries < r.entries:
		return corrupt("%d entries in a file that follows one with %d", entries, r.entries)
	}
	r.entries, r.headless = entries, false
	return nil
}

func (r *Restoring[K, S]) add(c chunk[K, S], err error) error {
	if err != nil {
		return err
	}
	r.ranged += len(c.keys)
	r.chunks = append(r.chunks, c)
	return nil
}

func (r *Restoring[K, S]) rangeOf(p *frameReader) (c chunk[K, S], err error) {
	c.first = p.number(maxEntries)
	n := p.number(mostInChunk)
	if c.gone = p.gone(n); p.bad || c.first+n > r.entries || n == 0 {
		return c, corrupt("entries from %d on, %d of them", c.first, n)
	}
	keys := p.take(p.number(len(p.rest)))
	if p.bad {
		return c, corrupt("keys are cut off")
	}
	if c.keys, err = r.keyCodec.Decode(keys); err != nil {
		return c, fmt.Errorf("decode keys of state: %w", err)
	}
	if len(c.keys) != n {
		return c, corrupt("%d keys, %d entries", len(c.keys), n)
	}
	if r.hasher.Dynamic() {
		for i := range c.keys {
			if err := r.hasher.Check(c.keys[i]); err != nil {
				return c, fmt.Errorf("decode keys of state: %w: %w", codec.ErrCorrupt, err)
			}
		}
	}
	c.states, err = r.statesOf(p, n)
	return c, err
}

func (r *Restoring[K, S]) changesOf(p *frameReader) (c chunk[K, S], err error) {
	n := p.number(mostInChunk)
	if n > len(p.rest) || n == 0 {
		return c, corrupt("%d changes", n)
	}
	c.at = make([]int32, n)
	before := 0
	for i := range c.at {
		d := p.number(maxEntries)
		if before += d; p.bad || before >= r.entries || i > 0 && d == 0 {
			return c, corrupt("change %d of %d", i, n)
		}
		c.at[i] = int32(before)
	}
	if c.gone = p.gone(n); p.bad {
		return c, corrupt("changes are cut off")
	}
	c.states, err = r.statesOf(p, n)
	return c, err
}

func (r *Restoring[K, S]) statesOf(p *frameReader, n int) ([]S, error) {
	states, err := r.stateCodec.Decode(p.rest)
	if err != nil {
		return nil, fmt.Errorf("decode state: %w", err)
	}
	if len(states) != n {
		return nil, corrupt("%d states, %d entries", len(states), n)
	}
	return states, nil
}

// Version returns the version of the last file.
//
// Errors: codec.ErrCorrupt where an entry is in none of the files, or two have one key.
func (r *Restoring[K, S]) Version() (*Version[K, S], error) {
	if r.headless || r.entries > r.ranged {
		return nil, corrupt("%d entries, and the files have %d", r.entries, r.ranged)
	}
	if r.entries == 0 {
		return new(Version[K, S]), nil
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	values := t.Values()
	for i := range r.chunks { // the newest comes last
		c := &r.chunks[i]
		for j := range c.states {
			at := c.first + j
			if c.at != nil {
				at = int(c.at[j])
			}
			v := values.At(at)
			v.state, v.gone = c.states[j], c.gone != nil && c.gone[j>>3]>>(j&7)&1 == 1
		}
	}
	live := 0
	for i := range t.Len() {
		if !values.At(i).gone {
			live++
		}
	}
	return &Version[K, S]{core: &core[K, S]{table: t}, size: t.Len(), live: live}, nil
}

// table returns a table of the keys, under their numbers.
func (r *Restoring[K, S]) table() (*table[K, S], error) {
	keys, known := make([]K, r.entries), newBits(r.entries)
	missing := r.entries
	for i := range r.chunks {
		c := &r.chunks[i]
		for j := range c.keys {
			if at := c.first + j; known.set(at) {
				keys[at] = c.keys[j]
				missing--
			} else if !r.hasher.Equal(keys[at], c.keys[j]) {
				return nil, corrupt("entry %d has two keys", at)
			}
		}
	}
	if missing > 0 {
		return nil, corrupt("%d of %d entries have no key", missing, r.entries)
	}
	t := keyed.New[K, cell[S]](r.hasher, r.entries)
	var at [firstChunk]int32
	for from := 0; from < len(keys); from += len(at) {
		part := keys[from:min(from+len(at), len(keys))]
		keyed.EnumerateKeys(t, part, at[:])
		for i := range part {
			if int(at[i]) != from+i {
				return nil, corrupt("a key occurs twice")
			}
		}
	}
	return t, nil
}
