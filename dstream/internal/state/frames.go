package state

import (
	"encoding/binary"
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
)

// A file of a version is frames: a head, then entries, some thousands in each. Numbers are uvarints.
//
//	head     1, version, entries of the version, from and to of the slice
//	range    2, first entry, number, gone, length of the keys, keys, states     entries one after the other
//	changes  3, number, entries (each less the one before), gone, states        their keys are in files before
//
// Gone is a byte: 0 if all entries have state, else 1 and a bit for each, lowest first, set where the key was removed. Keys and states
// are a frame of package codec each, so the entries of a file lie column by column.
const (
	frameHead, frameRange, frameChanges = 1, 2, 3

	framesVersion = 1

	// FirstOwnFrame is from where on what holds a version may number frames of its own.
	FirstOwnFrame = 16

	firstChunk, mostInChunk = 512, 8192
	// chunkBytes is about how long a frame of entries is.
	chunkBytes = 512 << 10
)

// WriteSince puts the frames of a file as codec.Incremental says: what changed since base, and a slice; or all entries, where v was
// not made from base in one table, where there are few, or where many changed.
//
// Cost: what changed, and the slice; updates may go on meanwhile.
func (v *Version[K, S]) WriteSince(base *Version[K, S], from int64, put func(frame []byte) error) (codec.Span, error) {
	return v.writeSince(base, from, fewEntries, put)
}

func (v *Version[K, S]) writeSince(base *Version[K, S], from int64, few int, put func(frame []byte) error) (codec.Span, error) {
	d := v.since(base, from, few)
	w, err := newFrameWriter(v, put)
	if err != nil {
		return d.span, fmt.Errorf("encode state: %w", err)
	}
	if err := w.head(d.span); err != nil {
		return d.span, err
	}
	for _, r := range d.ranges {
		if err := w.entries(r[0], r[1]); err != nil {
			return d.span, err
		}
	}
	return d.span, w.changes(d.changed)
}

// A frameWriter encodes entries of a version.
type frameWriter[K comparable, S any] struct {
	copier[K, S]
	put        func([]byte) error
	keyCodec   *codec.Codec[K]
	stateCodec *codec.Codec[S]
	frame      []byte
	keyFrame   []byte
	chunk      int // how many entries the next frame is to have
}

func newFrameWriter[K comparable, S any](v *Version[K, S], put func([]byte) error) (*frameWriter[K, S], error) {
	w := &frameWriter[K, S]{copier: copier[K, S]{v: v, last: v}, put: put, chunk: firstChunk}
	var err error
	if w.keyCodec, err = codec.For[K](); err != nil {
		return nil, err
	}
	w.stateCodec, err = codec.For[S]()
	return w, err
}

func (w *frameWriter[K, S]) head(s codec.Span) error {
	frame := []byte{frameHead, framesVersion}
	for _, n := range []int64{s.Entries, s.From, s.To} {
		frame = binary.AppendUvarint(frame, uint64(n))
	}
	return w.put(frame)
}

// entries writes the entries from up to to with their keys.
func (w *frameWriter[K, S]) entries(from, to int) (err error) {
	for n := 0; from < to; from += n {
		n = min(w.chunk, to-from)
		w.copyRange(from, from+n)
		w.frame = binary.AppendUvarint(append(w.frame[:0], frameRange), uint64(from))
		w.frame = appendGone(binary.AppendUvarint(w.frame, uint64(n)), w.gone)
		if w.keyFrame, err = w.keyCodec.Append(w.keyFrame[:0], w.keys); err != nil {
			return fmt.Errorf("encode state: %w", err)
		}
		w.frame = binary.AppendUvarint(w.frame, uint64(len(w.keyFrame)))
		w.frame = append(w.frame, w.keyFrame...)
		if err := w.putStates(); err != nil {
			return err
		}
	}
	return nil
}

// changes writes entries without their keys.
func (w *frameWriter[K, S]) changes(at []int32) error {
	for len(at) > 0 {
		part := at[:min(w.chunk, len(at))]
		at = at[len(part):]
		w.copyEntries(part)
		w.frame = binary.AppendUvarint(append(w.frame[:0], frameChanges), uint64(len(part)))
		before := int32(0)
		for _, i := range part {
			w.frame = binary.AppendUvarint(w.frame, uint64(i-before))
			before = i
		}
		w.frame = appendGone(w.frame, w.gone)
		if err := w.putStates(); err != nil {
			return err
		}
	}
	return nil
}

// putStates ends a frame with the states and puts it.
func (w *frameWriter[K, S]) putStates() (err error) {
	if w.frame, err = w.stateCodec.Append(w.frame, w.states); err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	w.chunk = max(1, min(mostInChunk, chunkBytes*len(w.states)/len(w.frame)))
	return w.put(w.frame)
}

func appendGone(dst []byte, gone []bool) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for i, g := range gone {
		if !g {
			continue
		}
		if dst[at] == 0 {
			dst[at] = 1
			dst = append(dst, make([]byte, (len(gone)+7)/8)...)
		}
		dst[at+1+i>>3] |= 1 << (i & 7)
	}
	return dst
}

// A copier copies entries of a version, many at a time and under the lock. In between, updates may go on from it.
type copier[K comparable, S any] struct {
	v    *Version[K, S]
	last *Version[K, S]       // up to here what changed since v is known
	was  map[int32]*change[S] // by entry, what the version has where it changed since

	keys   []K
	states []S
	gone   []bool
}

// begin takes the lock, which the caller gives back, and finds out what changed since.
func (c *copier[K, S]) begin() *table[K, S] {
	c.v.core.mu.RLock()
	for ; c.last.next != nil; c.last = c.last.next {
		if c.was == nil {
			c.was = make(map[int32]*change[S], len(c.last.undo))
		}
		for i := range c.last.undo {
			was := &c.last.undo[i]
			if _, ok := c.was[was.at]; !ok && int(was.at) < c.v.size {
				c.was[was.at] = was
			}
		}
	}
	return c.v.core.table
}

func (c *copier[K, S]) copyRange(from, to int) {
	t := c.begin()
	defer c.v.core.mu.RUnlock()
	c.keys = t.Keys(c.keys[:0], from, to)
	c.room(to - from)
	values, states, gone := t.Values(), c.states, c.gone
	for i := range states {
		now := values.At(from + i)
		states[i], gone[i] = now.state, now.gone
	}
	if len(c.was) > 0 {
		for i := range states {
			c.undo(i, int32(from+i))
		}
	}
}

func (c *copier[K, S]) copyEntries(at []int32) {
	t := c.begin()
	defer c.v.core.mu.RUnlock()
	c.room(len(at))
	values, states, gone := t.Values(), c.states, c.gone
	for i, e := range at {
		now := values.At(int(e))
		states[i], gone[i] = now.state, now.gone
	}
	if len(c.was) > 0 {
		for i, e := range at {
			c.undo(i, e)
		}
	}
}

// undo makes what was copied of an entry what the version has.
func (c *copier[K, S]) undo(i int, at int32) {
	if was := c.was[at]; was != nil {
		c.states[i], c.gone[i] = was.state, was.gone
	}
}

// room makes room for n entries.
func (c *copier[K, S]) room(n int) {
	if cap(c.states) < n {
		c.states, c.gone = make([]S, n), make([]bool, n)
	}
	c.states, c.gone = c.states[:n], c.gone[:n]
}
