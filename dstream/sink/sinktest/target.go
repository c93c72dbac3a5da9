package sinktest

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
)

// A Target is a sink on storage that nothing else uses.
type Target[T any] struct {
	Sink sink.Sink[T]
	// Reopen returns another sink on the same storage, as another process would have. The suite uses all of them.
	Reopen func() sink.Sink[T]
	// Rows returns the committed rows of all outputs, as one who knows nothing of the sinks reads them at one moment: of
	// each output in the order of batches, partitions, rows.
	Rows func() ([]Row[T], error)
	// Value returns the i-th of a thousand rows, which differ.
	Value func(i int) T
	// Forgets says that the sink knows the staged bytes of the last batch only: of an older one it cannot see a conflict.
	Forgets bool
}

// A Row is a committed row.
type Row[T any] struct {
	App, Output string
	Batch       int64
	Partition   int
	Value       T
}

// The names the suite writes to.
const (
	app    = "app"
	output = "counts"
)

// suite is one case's target and the shorthand to use it.
type suite[T any] struct {
	*testing.T
	ctx context.Context
	Target[T]
	attempts int
}

// batch returns the b-th batch of the usual output.
func (s *suite[T]) batch(id int64) sink.Batch {
	return sink.Batch{App: app, Output: output, ID: id, Time: 1000 * id, Epoch: 1, Try: 1}
}

// values returns the rows of a partition: numbers from first on.
func (s *suite[T]) values(first, n int) []T {
	var rows []T
	for i := range n {
		rows = append(rows, s.Value((first+i)%1000))
	}
	return rows
}

// part stages one partition and returns its note. Rows come in two writes.
func (s *suite[T]) part(to sink.Sink[T], b sink.Batch, part int, rows []T) []byte {
	s.Helper()
	w := s.writer(to, b, part, rows)
	note, err := w.Finish(s.ctx)
	if err != nil {
		s.Fatalf("%v, partition %d: Finish: %v", b, part, err)
	}
	return note
}

// writer returns a writer of an attempt of its own that has been given rows.
func (s *suite[T]) writer(to sink.Sink[T], b sink.Batch, part int, rows []T) sink.Writer[T] {
	s.Helper()
	s.attempts++
	w, err := to.Part(s.ctx, b, part, fmt.Sprintf("%d-%d-a.%d", b.Epoch, b.Try, s.attempts))
	if err != nil {
		s.Fatalf("%v, partition %d: Part: %v", b, part, err)
	}
	half := len(rows) / 2
	for _, rows := range [][]T{rows[:half], rows[half:]} {
		lent := append([]T(nil), rows...)
		if err := w.Write(lent); err != nil {
			s.Fatalf("%v, partition %d: Write: %v", b, part, err)
		}
		clear(lent) // they are the caller's again
	}
	return w
}

// stage runs a try and returns its staged bytes.
func (s *suite[T]) stage(to sink.Sink[T], b sink.Batch, parts ...[]T) []byte {
	s.Helper()
	if err := to.Begin(s.ctx, b, len(parts)); err != nil {
		s.Fatalf("%v: Begin: %v", b, err)
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		notes[i] = s.part(to, b, i, rows)
	}
	return s.seal(to, b, notes)
}

func (s *suite[T]) seal(to sink.Sink[T], b sink.Batch, notes [][]byte) []byte {
	s.Helper()
	staged, err := to.Seal(s.ctx, b, notes)
	if err != nil {
		s.Fatalf("%v: Seal: %v", b, err)
	}
	return staged
}

func (s *suite[T]) commit(to sink.Sink[T], b sink.Batch, staged []byte) {
	s.Helper()
	if err := to.Commit(s.ctx, b, staged); err != nil {
		s.Fatalf("%v: Commit: %v", b, err)
	}
}

func (s *suite[T]) clean(to sink.Sink[T], b sink.Batch) {
	s.Helper()
	if err := to.Clean(s.ctx, b); err != nil {
		s.Fatalf("%v: Clean: %v", b, err)
	}
}

// rows returns the committed rows as Rows for batch b would be.
func (s *suite[T]) rows(b sink.Batch, parts ...[]T) []Row[T] {
	var rows []Row[T]
	for part, values := range parts {
		for _, v := range values {
			rows = append(rows, Row[T]{App: b.App, Output: b.Output, Batch: b.ID, Partition: part, Value: v})
		}
	}
	return rows
}

// shows compares what is committed to the usual output with the rows wanted.
func (s *suite[T]) shows(want ...[]Row[T]) {
	s.Helper()
	s.showsOf(app, output, want...)
}

func (s *suite[T]) showsOf(app, output string, want ...[]Row[T]) {
	s.Helper()
	all, err := s.Rows()
	if err != nil {
		s.Fatalf("Rows: %v", err)
	}
	var got, wanted []Row[T]
	for _, row := range all {
		if row.App == app && row.Output == output {
			got = append(got, row)
		}
	}
	for _, rows := range want {
		wanted = append(wanted, rows...)
	}
	if !reflect.DeepEqual(got, wanted) {
		s.Fatalf("committed rows of %s/%s:\n got %v\nwant %v", app, output, got, wanted)
	}
}

// last compares what Last answers.
func (s *suite[T]) last(to sink.Sink[T], app, output string, want sink.Mark) {
	s.Helper()
	got, err := to.Last(s.ctx, app, output)
	if err != nil {
		s.Fatalf("Last of %s/%s: %v", app, output, err)
	}
	if got != want {
		s.Fatalf("Last of %s/%s = %+v, want %+v", app, output, got, want)
	}
}
