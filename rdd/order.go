package rdd

import "cmp"

// Compare orders ordered values ascending with NaN behind everything else, so that a sort leaves
// NaN last. (cmp.Compare puts it first.)
func Compare[K cmp.Ordered](a, b K) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	// At least one is NaN.
	aNaN, bNaN := a != a, b != b
	switch {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	}
	return -1
}
