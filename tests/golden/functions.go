package golden

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A NotBuiltError names a word of the vocabulary that the interpreter does not know.
type NotBuiltError struct {
	What string // "operation", "action", "map function" and so on
	Name string
}

func (e *NotBuiltError) Error() string { return fmt.Sprintf("not yet built: %s %s", e.What, e.Name) }

// split cuts a function's name from its argument.
func split(f string) (name, arg string) {
	name, arg, _ = strings.Cut(f, ":")
	return name, arg
}

// number reads the argument of a function.
func number(what, f string) (int64, error) {
	_, arg := split(f)
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return 0, &NotBuiltError{What: what, Name: f}
	}
	return n, nil
}

// literal reads an argument that is a value: an integer, else text.
func literal(arg string) Value {
	if n, err := strconv.ParseInt(arg, 10, 64); err == nil {
		return n
	}
	return Text(arg)
}

func floorMod(a, b int64) int64 { return ((a % b) + b) % b }

// mapFunction returns the function of one value with that name.
func mapFunction(f string) (func(Value) Value, error) {
	name, arg := split(f)
	if name == "v" || name == "k" {
		inner, err := mapFunction(arg)
		if err != nil {
			return nil, err
		}
		if name == "v" {
			return func(x Value) Value { k, v := pair(x); return Tuple(k, inner(v)) }, nil
		}
		return func(x Value) Value { k, v := pair(x); return Tuple(inner(k), v) }, nil
	}
	if plain := mapFunctions[f]; plain != nil {
		return plain, nil
	}
	switch name {
	case "key-const":
		k := literal(arg)
		return func(x Value) Value { return Tuple(k, x) }, nil
	case "opt-or":
		other := literal(arg)
		return func(x Value) Value { return valueOr(x, other) }, nil
	case "fail-on":
		bad := literal(arg)
		return func(x Value) Value {
			if Compare(x, bad) == 0 {
				panic("value " + Show(x))
			}
			return x
		}, nil
	}
	n, err := number("map function", f)
	if err != nil {
		return nil, err
	}
	switch name {
	case "add":
		return func(x Value) Value { return integer(x) + n }, nil
	case "mul":
		return func(x Value) Value { return integer(x) * n }, nil
	case "mod":
		return func(x Value) Value { return floorMod(integer(x), n) }, nil
	case "key-mod":
		return func(x Value) Value { return Tuple(floorMod(integer(x), n), x) }, nil
	}
	return nil, &NotBuiltError{What: "map function", Name: f}
}

// mapFunctions are those without an argument.
var mapFunctions = map[string]func(Value) Value{
	"id":         func(x Value) Value { return x },
	"neg":        func(x Value) Value { return -integer(x) },
	"str":        func(x Value) Value { return Text(strconv.FormatInt(integer(x), 10)) },
	"int":        parseInt,
	"len":        func(x Value) Value { return length(text(x)) },
	"upper":      func(x Value) Value { return Text(strings.ToUpper(text(x))) },
	"first-char": func(x Value) Value { return Text(firstChar(text(x))) },
	"pair-one":   func(x Value) Value { return Tuple(x, Int(1)) },
	"pair-self":  func(x Value) Value { return Tuple(x, x) },
	"key-len":    func(x Value) Value { return Tuple(length(text(x)), x) },
	"key-first":  func(x Value) Value { return Tuple(Text(firstChar(text(x))), x) },
	"swap":       func(x Value) Value { a, b := pair(x); return Tuple(b, a) },
	"fst":        func(x Value) Value { return items(x, tuples)[0] },
	"snd":        func(x Value) Value { return items(x, tuples)[1] },
	"pair-sum":   func(x Value) Value { a, b := pair(x); return integer(a) + integer(b) },
	"sum":        func(x Value) Value { return sumOf(items(x, bags, lists)) },
	"size":       func(x Value) Value { return int64(len(items(x, bags, lists))) },
	"left-sum":   func(x Value) Value { a, b := pair(x); return integer(a) + integer(valueOr(b, Int(0))) },
	"right-sum":  func(x Value) Value { a, b := pair(x); return integer(valueOr(a, Int(0))) + integer(b) },
	"full-sum": func(x Value) Value {
		a, b := pair(x)
		return integer(valueOr(a, Int(0))) + integer(valueOr(b, Int(0)))
	},
	"sizes": func(x Value) Value {
		var sizes []Value
		for _, g := range items(x, tuples) {
			sizes = append(sizes, int64(len(items(g, bags, lists))))
		}
		return Tuple(sizes...)
	},
	"sum-sizes": func(x Value) Value {
		var n int64
		for _, g := range items(x, tuples) {
			n += int64(len(items(g, bags, lists)))
		}
		return n
	},
}

func parseInt(x Value) Value {
	n, err := strconv.ParseInt(text(x), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func length(s string) int64 { return int64(utf8.RuneCountInString(s)) }

func firstChar(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func sumOf(vs []Value) int64 {
	var sum int64
	for _, v := range vs {
		sum += integer(v)
	}
	return sum
}

func valueOr(opt, other Value) Value {
	if v, ok := option(opt); ok {
		return v
	}
	return other
}

// testFunction returns the predicate with that name.
func testFunction(f string) (func(Value) bool, error) {
	name, arg := split(f)
	switch f {
	case "all":
		return func(Value) bool { return true }, nil
	case "none":
		return func(Value) bool { return false }, nil
	case "even":
		return func(x Value) bool { return floorMod(integer(x), 2) == 0 }, nil
	case "odd":
		return func(x Value) bool { return floorMod(integer(x), 2) == 1 }, nil
	}
	switch name {
	case "v", "k":
		inner, err := testFunction(arg)
		if err != nil {
			return nil, err
		}
		return func(x Value) bool {
			k, v := pair(x)
			if name == "k" {
				return inner(k)
			}
			return inner(v)
		}, nil
	case "gt", "lt", "ne":
		bound := literal(arg)
		want := map[string]func(int) bool{
			"gt": func(c int) bool { return c > 0 }, "lt": func(c int) bool { return c < 0 }, "ne": func(c int) bool { return c != 0 },
		}[name]
		return func(x Value) bool { return want(Compare(x, bound)) }, nil
	}
	n, err := number("test function", f)
	if err != nil {
		return nil, err
	}
	switch name {
	case "len-gt":
		return func(x Value) bool { return length(text(x)) > n }, nil
	case "size-gt":
		return func(x Value) bool { return int64(len(items(x, bags, lists))) > n }, nil
	}
	return nil, &NotBuiltError{What: "test function", Name: f}
}

// flatFunction returns the function of one value to any number with that name.
func flatFunction(f string) (func(Value) []Value, error) {
	switch f {
	case "split-ws":
		return func(x Value) []Value { return texts(strings.Fields(text(x))) }, nil
	case "chars":
		return func(x Value) []Value { return texts(strings.Split(text(x), "")) }, nil
	case "upto":
		return func(x Value) []Value {
			var out []Value
			for i := int64(1); i <= integer(x); i++ {
				out = append(out, i)
			}
			return out
		}, nil
	case "dup":
		return func(x Value) []Value { return []Value{x, x} }, nil
	case "neg-too":
		return func(x Value) []Value { return []Value{x, -integer(x)} }, nil
	case "keep-even":
		return func(x Value) []Value {
			if floorMod(integer(x), 2) == 0 {
				return []Value{x}
			}
			return nil
		}, nil
	case "items":
		return func(x Value) []Value { return items(x, bags, lists) }, nil
	case "nothing":
		return func(Value) []Value { return nil }, nil
	}
	return nil, &NotBuiltError{What: "flat function", Name: f}
}

func texts(words []string) []Value {
	out := make([]Value, len(words))
	for i, w := range words {
		out[i] = Text(w)
	}
	return out
}
