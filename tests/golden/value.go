package golden

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Value is a record of a case: an integer, a string, a tuple, a list, a bag or an option.
//
// Integers are int64, so that they hash to themselves. All else is a string that begins with a
// letter for its kind: equal values are then equal strings, which any codec carries and any key
// table compares.
type Value any

// The kinds of values, in their order when sorted.
type kind int

const (
	integers kind = iota
	strs
	options
	bags
	lists
	tuples
)

// tags are the first letters of encoded values, by kind.
const tags = "isoblt"

func (k kind) String() string {
	return [...]string{"integer", "string", "option", "bag", "list", "tuple"}[k]
}

func kindOf(v Value) kind {
	switch v := v.(type) {
	case int64:
		return integers
	case string:
		if v != "" {
			if k := strings.IndexByte(tags, v[0]); k > 0 {
				return kind(k)
			}
		}
	}
	panic(fmt.Sprintf("%#v is no value", v))
}

// Int returns an integer value.
func Int(n int64) Value { return n }

// Text returns a string value.
func Text(s string) Value { return "s" + s }

// Tuple returns a tuple of 2 to 4 values.
func Tuple(items ...Value) Value { return compose(tuples, items) }

// List returns a list, whose order counts.
func List(items ...Value) Value { return compose(lists, items) }

// Bag returns a bag, whose order does not count.
func Bag(items ...Value) Value {
	items = slices.Clone(items)
	slices.SortFunc(items, Compare)
	return compose(bags, items)
}

// Some returns an option with a value.
func Some(v Value) Value { return compose(options, []Value{v}) }

// None returns the option without value.
func None() Value { return compose(options, nil) }

// compose writes the items behind the kind's letter, each with its length in front.
func compose(k kind, items []Value) Value {
	b := []byte{tags[k]}
	for _, v := range items {
		s, ok := v.(string)
		if !ok {
			s = "i" + strconv.FormatInt(v.(int64), 10)
		}
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return string(b)
}

// items returns what a composed value is made of.
func items(v Value, want ...kind) []Value {
	k := kindOf(v)
	if k < options || len(want) > 0 && !slices.Contains(want, k) {
		panic(fmt.Sprintf("%s is a %s, not a %v", Show(v), k, want))
	}
	b := []byte(v.(string)[1:])
	var out []Value
	for len(b) > 0 {
		n, w := binary.Uvarint(b)
		item := string(b[w : w+int(n)])
		b = b[w+int(n):]
		if item[0] == 'i' {
			i, err := strconv.ParseInt(item[1:], 10, 64)
			if err != nil {
				panic(err)
			}
			out = append(out, i)
		} else {
			out = append(out, item)
		}
	}
	return out
}

// integer returns the number v is.
func integer(v Value) int64 {
	n, ok := v.(int64)
	if !ok {
		panic(fmt.Sprintf("%s is a %s, not an integer", Show(v), kindOf(v)))
	}
	return n
}

// text returns the string v is.
func text(v Value) string {
	if k := kindOf(v); k != strs {
		panic(fmt.Sprintf("%s is a %s, not a string", Show(v), k))
	}
	return v.(string)[1:]
}

// pair returns the two halves of a tuple of two.
func pair(v Value) (Value, Value) {
	both := items(v, tuples)
	if len(both) != 2 {
		panic(fmt.Sprintf("%s is a tuple of %d, not a pair", Show(v), len(both)))
	}
	return both[0], both[1]
}

// option returns what an option holds.
func option(v Value) (Value, bool) {
	held := items(v, options)
	if len(held) == 0 {
		return nil, false
	}
	return held[0], true
}

// Show returns a value as cases write it, for people.
func Show(v Value) string {
	switch k := kindOf(v); k {
	case integers:
		return strconv.FormatInt(v.(int64), 10)
	case strs:
		return strconv.Quote(text(v))
	case tuples:
		return ShowAll(items(v))
	default:
		return fmt.Sprintf("{%q:%s}", tags[k:k+1], ShowAll(items(v)))
	}
}

// ShowAll returns several values as cases write them.
func ShowAll(vs []Value) string {
	shown := make([]string, len(vs))
	for i, v := range vs {
		shown[i] = Show(v)
	}
	return "[" + strings.Join(shown, ",") + "]"
}
