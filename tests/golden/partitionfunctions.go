package golden

import "iter"

// A partitionFunc makes the records of a partition of those of another.
type partitionFunc = func(iter.Seq[Value]) iter.Seq[Value]

// partitionFunction returns the function of a partition with that name.
func partitionFunction(f string) (partitionFunc, error) {
	name, _ := split(f)
	switch name {
	case "each":
		return func(in iter.Seq[Value]) iter.Seq[Value] { return in }, nil
	case "sum":
		return whole(func(rows []Value) []Value { return []Value{sumOf(rows)} }), nil
	case "count":
		return whole(func(rows []Value) []Value { return []Value{int64(len(rows))} }), nil
	case "list":
		return whole(func(rows []Value) []Value { return []Value{List(rows...)} }), nil
	case "max":
		return whole(func(rows []Value) []Value {
			if len(rows) == 0 {
				return nil
			}
			return sorted(rows)[len(rows)-1:]
		}), nil
	case "take":
		n, err := number("partition function", f)
		if err != nil {
			return nil, err
		}
		return func(in iter.Seq[Value]) iter.Seq[Value] { return first(in, n) }, nil
	}
	return nil, &NotBuiltError{What: "partition function", Name: f}
}

// whole lifts a function of all rows.
func whole(f func([]Value) []Value) partitionFunc {
	return func(in iter.Seq[Value]) iter.Seq[Value] {
		return func(yield func(Value) bool) {
			var rows []Value
			for x := range in {
				rows = append(rows, x)
			}
			for _, y := range f(rows) {
				if !yield(y) {
					return
				}
			}
		}
	}
}

// first yields the first n values and reads no further.
func first(in iter.Seq[Value], n int64) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if n <= 0 {
			return
		}
		left := n
		for x := range in {
			left--
			if !yield(x) || left == 0 {
				return
			}
		}
	}
}

// indexedFunction returns the function of a partition and its index with that name.
func indexedFunction(f string) (func(part int, in iter.Seq[Value]) iter.Seq[Value], error) {
	var of func(part int64, rows []Value) []Value
	switch f {
	case "tag":
		of = func(part int64, rows []Value) []Value {
			out := make([]Value, len(rows))
			for i, x := range rows {
				out[i] = Tuple(part, x)
			}
			return out
		}
	case "tag-count":
		of = func(part int64, rows []Value) []Value { return []Value{Tuple(part, int64(len(rows)))} }
	case "tag-sum":
		of = func(part int64, rows []Value) []Value { return []Value{Tuple(part, sumOf(rows))} }
	default:
		return nil, &NotBuiltError{What: "indexed partition function", Name: f}
	}
	return func(part int, in iter.Seq[Value]) iter.Seq[Value] {
		return whole(func(rows []Value) []Value { return of(int64(part), rows) })(in)
	}, nil
}
