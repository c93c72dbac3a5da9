package golden

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// anyValue draws a value of limited depth.
func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		k := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			k %= 2
		}
		several := func(least, most int) []Value {
			return rapid.SliceOfN(anyValue(depth-1), least, most).Draw(t, "items")
		}
		switch kind(k) {
		case integers:
			return rapid.Int64Range(-20, 20).Draw(t, "n")
		case strs:
			return Text(rapid.StringN(0, 3, -1).Draw(t, "s"))
		case options:
			return compose(options, several(0, 1))
		case bags:
			return Bag(several(0, 3)...)
		case lists:
			return List(several(0, 3)...)
		}
		return Tuple(several(2, 4)...)
	})
}

// TestValues proves that values are what they were made of, equal only if the same, and in a total
// order.
func TestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, z := anyValue(2).Draw(t, "x"), anyValue(2).Draw(t, "y"), anyValue(2).Draw(t, "z")
		if kindOf(x) >= options {
			if back := compose(kindOf(x), items(x)); back != x {
				t.Errorf("%s taken apart and put together is %s", Show(x), Show(back))
			}
		}
		if (Compare(x, y) == 0) != (x == y) || Compare(x, y) != -Compare(y, x) {
			t.Errorf("%s and %s compare as %d, %d", Show(x), Show(y), Compare(x, y), Compare(y, x))
		}
		if Compare(x, y) <= 0 && Compare(y, z) <= 0 && Compare(x, z) > 0 {
			t.Errorf("%s, %s, %s are not in order", Show(x), Show(y), Show(z))
		}
	})
}

// TestOrder holds the order of the kinds, and that shorter comes first.
func TestOrder(t *testing.T) {
	ascending := []string{`-3`, `10`, `""`, `"B"`, `"a"`, `{"o":[]}`, `{"o":[1]}`, `{"b":[]}`, `{"b":[1]}`, `{"b":[1,1]}`,
		`{"b":[2]}`, `{"l":[]}`, `{"l":[9]}`, `[1,2]`, `[1,2,0]`, `[1,3]`, `["a",1]`}
	for i, a := range ascending {
		for j, b := range ascending {
			x, errX := ParseValue(json.RawMessage(a))
			y, errY := ParseValue(json.RawMessage(b))
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			if got := Compare(x, y); got < 0 != (i < j) || got == 0 != (i == j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
	for _, bad := range []string{`1.5`, `[1]`, `{"x":[]}`, `{"o":[1,2],"b":[]}`, `null`} {
		if v, err := ParseValue(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was read as %s", bad, Show(v))
		}
	}
}
