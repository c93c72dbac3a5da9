package state

import (
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// A Version is the state of one partition after one batch. It may be read from any goroutine.
type Version[K comparable, S any] struct {
	levels []*table[K, S] // the oldest and largest first
	live   int
}

// table is what changed in a stretch of batches.
type table[K comparable, S any] = keyed.Table[K, cell[S]]

// cell is a key's state, or that it was removed.
type cell[S any] struct {
	state S
	gone  bool
}

// Len is the number of keys that have state.
func (v *Version[K, S]) Len() int { return v.live }

// Immutable tells package codec that a version never changes, so that readers may share it.
func (v *Version[K, S]) Immutable() {}

// Get returns the state of a key.
func (v *Version[K, S]) Get(k K) (s S, ok bool) {
	c := find(v.levels, k)
	if c == nil || c.gone {
		return s, false
	}
	return c.state, true
}

// find returns the youngest cell of a key, nil if there is none.
func find[K comparable, S any](levels []*table[K, S], k K) *cell[S] {
	for i := len(levels) - 1; i >= 0; i-- {
		if at, ok := levels[i].Find(k); ok {
			return levels[i].Value(at)
		}
	}
	return nil
}

// Each calls yield with every key that has state until it returns false. The state must not be
// changed.
//
// Order: as the keys were first put, as far back as the oldest table goes.
// Cost: one step a key, and a probe of each younger table.
func (v *Version[K, S]) Each(yield func(k K, s *S) bool) {
	for l, t := range v.levels {
		for i := range t.Len() {
			k := t.Key(i)
			if _, older := findIn(v.levels[:l], k); older {
				continue // it came at its older place
			}
			c := t.Value(i)
			if younger := find(v.levels[l+1:], k); younger != nil {
				c = younger
			}
			if !c.gone && !yield(k, &c.state) {
				return
			}
		}
	}
}

func findIn[K comparable, S any](levels []*table[K, S], k K) (*cell[S], bool) {
	c := find(levels, k)
	return c, c != nil
}

// row is how a cell travels. Level counts from the oldest table.
type row[K comparable, S any] struct {
	Level uint8
	Gone  bool
	Key   K
	State S
}

// MarshalBinary encodes the tables as they are, removed keys as well: a version that has been decoded
// goes on exactly as the one that was encoded would have, order included.
func (v *Version[K, S]) MarshalBinary() ([]byte, error) {
	c, err := codec.For[row[K, S]]()
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	var rows []row[K, S]
	for l, t := range v.levels {
		for i := range t.Len() {
			c := t.Value(i)
			rows = append(rows, row[K, S]{Level: uint8(l), Gone: c.gone, Key: t.Key(i), State: c.state})
		}
	}
	return c.Append(nil, rows)
}

// UnmarshalBinary makes v the version that was encoded.
func (v *Version[K, S]) UnmarshalBinary(data []byte) error {
	c, err := codec.For[row[K, S]]()
	if err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	rows, err := c.Decode(data)
	if err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	h, err := keyed.HasherFor[K]()
	if err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	var levels []*table[K, S]
	for _, r := range rows {
		if h.Dynamic() {
			if err := h.Check(r.Key); err != nil {
				return fmt.Errorf("decode state: %w", err)
			}
		}
		switch n := len(levels); {
		case int(r.Level) == n:
			levels = append(levels, keyed.New[K, cell[S]](h, 0))
		case int(r.Level) != n-1:
			return fmt.Errorf("decode state: %w: tables out of order", codec.ErrCorrupt)
		}
		t := levels[len(levels)-1]
		at, fresh := t.Upsert(r.Key)
		if !fresh {
			return fmt.Errorf("decode state: %w: a key occurs twice", codec.ErrCorrupt)
		}
		*t.Value(at) = cell[S]{state: r.State, gone: r.Gone}
	}
	v.levels, v.live = levels, 0
	v.Each(func(K, *S) bool {
		v.live++
		return true
	})
	return nil
}
