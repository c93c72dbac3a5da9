package keyed

import "fmt"

// Pair is a record with a key.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// String returns "(key,value)".
func (p Pair[K, V]) String() string { return fmt.Sprintf("(%v,%v)", p.Key, p.Value) }

// Option is a value that may be missing, as the missing side of an outer join is.
type Option[T any] struct {
	Value T    // the zero T when OK is false
	OK    bool // whether there is a value
}

// String returns "Some(value)" or "None".
func (o Option[T]) String() string {
	if o.OK {
		return fmt.Sprintf("Some(%v)", o.Value)
	}
	return "None"
}

// Some returns an Option that holds v.
func Some[T any](v T) Option[T] { return Option[T]{Value: v, OK: true} }

// None returns an Option that holds nothing.
func None[T any]() Option[T] { return Option[T]{} }
