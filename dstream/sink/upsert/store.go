package upsert

import (
	"context"
	"sync"
)

// An Entry is a key's value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// A Store keeps the value of each key, with a version.
type Store[K comparable, V any] interface {
	// Put keeps each entry with the version where the key has no value or one of a lower version. The keys differ. It may have
	// kept some where it fails, and is then called again with all. What it kept is durable when it returns nil. The entries are
	// the caller's afterwards. Calls of different outputs may overlap.
	Put(ctx context.Context, entries []Entry[K, V], version int64) error
}

// A Memory is a Store in memory, for tests and for values that a web page shows. It starts empty, and the spool knows
// what it was given before the process ended: it is not given that again.
type Memory[K comparable, V any] struct {
	mu     sync.Mutex // guards values
	values map[K]versioned[V]
}

type versioned[V any] struct {
	value   V
	version int64
}

// NewMemory returns an empty store.
func NewMemory[K comparable, V any]() *Memory[K, V] {
	return &Memory[K, V]{values: make(map[K]versioned[V])}
}

// Put keeps the entries that are later than what is there.
func (m *Memory[K, V]) Put(ctx context.Context, entries []Entry[K, V], version int64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range entries {
		if v, ok := m.values[e.Key]; !ok || v.version < version {
			m.values[e.Key] = versioned[V]{e.Value, version}
		}
	}
	return nil
}

// Get returns the value of a key and its version.
func (m *Memory[K, V]) Get(key K) (value V, version int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[key]
	return v.value, v.version, ok
}

// Len returns how many keys have a value.
func (m *Memory[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}
