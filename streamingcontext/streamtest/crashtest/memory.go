package crashtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
)

// memory is the sink of Save: a map of parts by name, and the rows that are committed.
type memory[T any] struct {
	mu    sync.Mutex // guards the fields below
	parts map[string][]T
	rows  []T
	mark  sink.Mark
}

func newMemory[T any]() *memory[T] {
	return &memory[T]{parts: map[string][]T{}, mark: sink.Mark{ID: -1}}
}

func (m *memory[T]) shown() ([]T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.rows), nil
}

func (m *memory[T]) Begin(ctx context.Context, _ sink.Batch, _ int) error { return ctx.Err() }

func (m *memory[T]) Part(ctx context.Context, b sink.Batch, part int, attempt string) (sink.Writer[T], error) {
	return &memoryWriter[T]{m: m, name: fmt.Sprintf("%d/%d/%s", b.ID, part, attempt)}, ctx.Err()
}

func (m *memory[T]) Seal(ctx context.Context, _ sink.Batch, notes [][]byte) ([]byte, error) {
	var names []string
	for _, note := range notes {
		names = append(names, string(note))
	}
	return []byte(strings.Join(names, " ")), ctx.Err()
}

func (m *memory[T]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	digest := sha256.Sum256(staged)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case b.ID == m.mark.ID && digest != m.mark.Digest:
		return &sink.ConflictError{Batch: b}
	case b.ID <= m.mark.ID:
		return nil
	case b.Epoch < m.mark.Epoch:
		return &sink.FencedError{Batch: b, Have: m.mark.Epoch}
	}
	for _, name := range strings.Fields(string(staged)) {
		m.rows = append(m.rows, m.parts[name]...)
	}
	m.mark = sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: digest}
	return nil
}

func (m *memory[T]) Clean(ctx context.Context, _ sink.Batch) error { return ctx.Err() }

func (m *memory[T]) Last(ctx context.Context, _, _ string) (sink.Mark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark, ctx.Err()
}

type memoryWriter[T any] struct {
	m    *memory[T]
	name string
	rows []T
}

func (w *memoryWriter[T]) Write(rows []T) error {
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *memoryWriter[T]) Finish(ctx context.Context) ([]byte, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.parts[w.name] = w.rows
	return []byte(w.name), ctx.Err()
}

func (w *memoryWriter[T]) Abort(context.Context) error { return nil }
