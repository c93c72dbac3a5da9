package state

import (
	"fmt"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// row is how an entry travels.
type row[K comparable, S any] struct {
	Gone  bool
	Key   K
	State S
}

// MarshalBinary encodes the entries as they are, removed keys as well: a version that has been decoded
// goes on exactly as the one that was encoded would have, order included.
func (v *Version[K, S]) MarshalBinary() ([]byte, error) {
	c, err := codec.For[row[K, S]]()
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	var rows []row[K, S]
	if v.core != nil {
		rows = make([]row[K, S], 0, v.size)
	}
	entries(v, true, func(s *S) S { return *s }, func(part []keyed.Pair[K, S], gone []bool) bool {
		for i, p := range part {
			rows = append(rows, row[K, S]{Gone: gone[i], Key: p.Key, State: p.Value})
		}
		return true
	})
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
	t := keyed.New[K, cell[S]](h, len(rows))
	live := 0
	for _, r := range rows {
		if h.Dynamic() {
			if err := h.Check(r.Key); err != nil {
				return fmt.Errorf("decode state: %w", err)
			}
		}
		at, fresh := t.Upsert(r.Key)
		if !fresh {
			return fmt.Errorf("decode state: %w: a key occurs twice", codec.ErrCorrupt)
		}
		*t.Value(at) = cell[S]{state: r.State, gone: r.Gone}
		if !r.Gone {
			live++
		}
	}
	*v = Version[K, S]{live: live}
	if len(rows) > 0 {
		v.core, v.size = &core[K, S]{table: t}, t.Len()
	}
	return nil
}
