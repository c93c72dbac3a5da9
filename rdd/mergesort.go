package rdd

// insertionRows is up to how many rows are sorted by insertion.
const insertionRows = 12

// sortMerging sorts rows by compare, of equal ones the first first, with room for half of them in buf. It asks compare less than half
// as often as a stable sort without room does, which is what counts where the program's function is the cost. Of a
// compare that contradicts itself only the order suffers.
func sortMerging[T any](rows, buf []T, compare func(a, b T) int) {
	if len(rows) <= insertionRows {
		for i := 1; i < len(rows); i++ {
			for j := i; j > 0 && compare(rows[j], rows[j-1]) < 0; j-- {
				rows[j], rows[j-1] = rows[j-1], rows[j]
			}
		}
		return
	}
	mid := len(rows) / 2
	sortMerging(rows[:mid], buf, compare)
	sortMerging(rows[mid:], buf, compare)
	if compare(rows[mid], rows[mid-1]) >= 0 {
		return
	}
	left, right, to := buf[:copy(buf, rows[:mid])], rows[mid:], rows
	for len(left) > 0 && len(right) > 0 {
		if compare(right[0], left[0]) < 0 {
			to[0], right = right[0], right[1:]
		} else {
			to[0], left = left[0], left[1:]
		}
		to = to[1:]
	}
	copy(to, left) // what is left of right lies where it belongs
}
