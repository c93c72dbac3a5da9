package golden

import (
	"cmp"
	"slices"
)

// Compare is the one total order of values: by kind, then integers by value, strings by byte, all
// else item by item, shorter first.
func Compare(a, b Value) int {
	k := kindOf(a)
	if c := cmp.Compare(k, kindOf(b)); c != 0 {
		return c
	}
	switch k {
	case integers:
		return cmp.Compare(a.(int64), b.(int64))
	case strs:
		return cmp.Compare(a.(string), b.(string))
	}
	if a.(string) == b.(string) {
		return 0
	}
	return slices.CompareFunc(items(a), items(b), Compare)
}

// sorted returns the values in order.
func sorted(vs []Value) []Value {
	vs = slices.Clone(vs)
	slices.SortFunc(vs, Compare)
	return vs
}
