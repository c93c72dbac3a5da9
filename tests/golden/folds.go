package golden

// binaryFunction returns the function of two values with that name.
func binaryFunction(f string) (func(a, b Value) Value, error) {
	switch f {
	case "add":
		return func(a, b Value) Value { return integer(a) + integer(b) }, nil
	case "sub":
		return func(a, b Value) Value { return integer(a) - integer(b) }, nil
	case "mul":
		return func(a, b Value) Value { return integer(a) * integer(b) }, nil
	case "max":
		return func(a, b Value) Value {
			if Compare(a, b) < 0 {
				return b
			}
			return a
		}, nil
	case "min":
		return func(a, b Value) Value {
			if Compare(b, a) < 0 {
				return b
			}
			return a
		}, nil
	case "concat":
		return func(a, b Value) Value { return Text(text(a) + text(b)) }, nil
	case "cat":
		return func(a, b Value) Value { return Bag(append(items(a, bags), items(b, bags)...)...) }, nil
	case "pair-add":
		return func(a, b Value) Value {
			a1, a2 := pair(a)
			b1, b2 := pair(b)
			return Tuple(integer(a1)+integer(b1), integer(a2)+integer(b2))
		}, nil
	}
	return nil, &NotBuiltError{What: "function of two arguments", Name: f}
}

// foldFunction returns the function of an accumulator and a value with that name.
func foldFunction(f string) (func(acc, x Value) Value, error) {
	switch f {
	case "count":
		return func(acc, _ Value) Value { return integer(acc) + 1 }, nil
	case "len-add":
		return func(acc, x Value) Value { return integer(acc) + length(text(x)) }, nil
	case "collect":
		return func(acc, x Value) Value { return Bag(append(items(acc, bags), x)...) }, nil
	case "sum-count":
		return func(acc, x Value) Value {
			s, n := pair(acc)
			return Tuple(integer(s)+integer(x), integer(n)+1)
		}, nil
	}
	return binaryFunction(f)
}

// combiner is what combineByKey is given.
type combiner struct {
	create        func(Value) Value
	merge, merge2 func(a, b Value) Value // value into combiner, combiner into combiner
}

// combineFunctions returns the functions of combineByKey with that name.
func combineFunctions(f string) (combiner, error) {
	two := func(name string) func(a, b Value) Value {
		g, err := foldFunction(name)
		if err != nil {
			panic(err)
		}
		return g
	}
	switch f {
	case "sum-count":
		return combiner{
			create: func(x Value) Value { return Tuple(x, Int(1)) },
			merge:  two("sum-count"), merge2: two("pair-add"),
		}, nil
	case "bag":
		return combiner{create: func(x Value) Value { return Bag(x) }, merge: two("collect"), merge2: two("cat")}, nil
	case "max":
		return combiner{create: func(x Value) Value { return x }, merge: two("max"), merge2: two("max")}, nil
	case "calls":
		return combiner{
			create: func(Value) Value { return Int(1) },
			merge:  func(c, _ Value) Value { return integer(c) + 100 },
			merge2: func(a, b Value) Value { return integer(a) + integer(b) + 10000 },
		}, nil
	}
	return combiner{}, &NotBuiltError{What: "combine function", Name: f}
}
