package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ParseValue reads a value as cases write it.
func ParseValue(raw json.RawMessage) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, fmt.Errorf("read value %s: %w", raw, err)
	}
	return valueOf(x)
}

// ParseValues reads a list of values.
func ParseValues(raws []json.RawMessage) ([]Value, error) {
	out := make([]Value, len(raws))
	for i, raw := range raws {
		var err error
		if out[i], err = ParseValue(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseList reads a JSON array of values.
func parseList(raw json.RawMessage) ([]Value, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(raw, &raws); err != nil {
		return nil, fmt.Errorf("read values %s: %w", raw, err)
	}
	return ParseValues(raws)
}

func valueOf(x any) (Value, error) {
	switch x := x.(type) {
	case json.Number:
		n, err := x.Int64()
		return n, err
	case string:
		return Text(x), nil
	case []any:
		if len(x) < 2 || len(x) > 4 {
			return nil, fmt.Errorf("tuple of %d values", len(x))
		}
		vs, err := valuesOf(x)
		return Tuple(vs...), err
	case map[string]any:
		for _, k := range []kind{options, bags, lists} {
			held, ok := x[tags[k:k+1]].([]any)
			if !ok || len(x) != 1 {
				continue
			}
			vs, err := valuesOf(held)
			if err != nil {
				return nil, err
			}
			if k == bags {
				return Bag(vs...), nil
			}
			return compose(k, vs), nil
		}
	}
	return nil, fmt.Errorf("%v is no value", x)
}

func valuesOf(xs []any) ([]Value, error) {
	out := make([]Value, len(xs))
	for i, x := range xs {
		var err error
		if out[i], err = valueOf(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}
