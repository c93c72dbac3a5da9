package keyed

// Pair is a record with a key.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// Option is a value that may be missing, as the missing side of an outer join is.
type Option[T any] struct {
	Value T    // the zero T when OK is false
	OK    bool // whether there is a value
}

// Some returns an Option that holds v.
func Some[T any](v T) Option[T] { return Option[T]{Value: v, OK: true} }

// None returns an Option that holds nothing.
func None[T any]() Option[T] { return Option[T]{} }
