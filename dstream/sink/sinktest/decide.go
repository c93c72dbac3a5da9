package sinktest

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/leat-io/leat/dstream/sink"
)

func again[T any](s *suite[T]) {
	first, second := s.batch(0), s.batch(1)
	one, two := s.values(0, 2), s.values(2, 2)
	staged := s.stage(s.Sink, first, one)
	s.commit(s.Sink, first, staged)
	s.commit(s.Sink, first, staged)
	s.commit(s.Reopen(), first, staged)
	s.shows(s.rows(first, one))
	s.clean(s.Sink, first)
	s.commit(s.Sink, first, staged) // what was staged may be gone
	later := s.stage(s.Sink, second, two)
	s.commit(s.Sink, second, later)
	s.clean(s.Sink, second)
	for _, to := range []sink.Sink[T]{s.Sink, s.Reopen()} {
		s.commit(to, first, staged)
		s.commit(to, second, later)
		s.last(to, app, output, sink.Mark{ID: 1, Epoch: 1, Digest: sha256.Sum256(later)})
	}
	s.shows(s.rows(first, one), s.rows(second, two))
}

func elsewhere[T any](s *suite[T]) {
	b := s.batch(0)
	rows := s.values(0, 3)
	staged := s.stage(s.Sink, b, rows, nil)
	other := s.Reopen()
	b.Epoch = 2 // the driver that staged it is gone
	s.commit(other, b, staged)
	s.shows(s.rows(b, rows, nil))
	s.last(other, app, output, sink.Mark{ID: 0, Epoch: 2, Digest: sha256.Sum256(staged)})
	s.last(s.Sink, app, output, sink.Mark{ID: 0, Epoch: 2, Digest: sha256.Sum256(staged)})
	s.commit(other, b, staged)
	s.clean(other, b)
	s.shows(s.rows(b, rows, nil))

	// And the parts of a batch may be written by several processes.
	b = s.batch(1)
	b.Epoch = 2
	if err := other.Begin(s.ctx, b, 2); err != nil {
		s.Fatal(err)
	}
	notes := [][]byte{s.part(s.Sink, b, 0, rows), s.part(s.Reopen(), b, 1, rows)}
	s.commit(other, b, s.seal(other, b, notes))
	first := s.batch(0)
	s.shows(s.rows(first, rows), s.rows(b, rows, rows))
}

func tries[T any](s *suite[T]) {
	b := s.batch(0)
	s.stage(s.Sink, b, s.values(0, 3), s.values(3, 3)) // sealed, but its driver died
	b.Try = 2
	if err := s.Sink.Begin(s.ctx, b, 2); err != nil {
		s.Fatal(err)
	}
	s.part(s.Sink, b, 0, s.values(6, 1)) // never sealed
	unfinished := s.writer(s.Sink, b, 1, s.values(7, 1))
	b.Try, b.Epoch = 1, 2
	other := s.Reopen()
	rows := s.values(8, 2)
	staged := s.stage(other, b, rows, nil)
	s.shows()
	s.commit(other, b, staged)
	s.shows(s.rows(b, rows, nil))
	s.clean(other, b)
	s.shows(s.rows(b, rows, nil))
	_ = unfinished.Abort(s.ctx) // it may find nothing left
	s.shows(s.rows(b, rows, nil))
}

func attempts[T any](s *suite[T]) {
	b := s.batch(0)
	if err := s.Sink.Begin(s.ctx, b, 2); err != nil {
		s.Fatal(err)
	}
	won, lost := s.values(0, 2), s.values(2, 2)
	first := s.part(s.Sink, b, 0, won)
	s.part(s.Sink, b, 0, lost)
	s.part(s.Sink, b, 1, lost)
	second := s.part(s.Sink, b, 1, won)
	s.commit(s.Sink, b, s.seal(s.Sink, b, [][]byte{first, second}))
	s.shows(s.rows(b, won, won))
	s.clean(s.Sink, b)
	s.shows(s.rows(b, won, won))
}

func aborted[T any](s *suite[T]) {
	b := s.batch(0)
	if err := s.Sink.Begin(s.ctx, b, 1); err != nil {
		s.Fatal(err)
	}
	for _, rows := range [][]T{nil, s.values(0, 3)} {
		w := s.writer(s.Sink, b, 0, rows)
		for range 2 {
			if err := w.Abort(s.ctx); err != nil {
				s.Fatalf("Abort: %v", err)
			}
		}
	}
	w := s.writer(s.Sink, b, 0, s.values(0, 1))
	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	if err := w.Abort(ended); err != nil {
		s.Fatalf("Abort when the context has ended: %v", err)
	}
	rows := s.values(3, 1)
	s.commit(s.Sink, b, s.seal(s.Sink, b, [][]byte{s.part(s.Sink, b, 0, rows)}))
	s.shows(s.rows(b, rows))
}

func conflicts[T any](s *suite[T]) {
	first, second := s.batch(0), s.batch(1)
	rows, other := s.values(0, 2), s.values(2, 2)
	staged := s.stage(s.Sink, first, rows)
	first.Try = 2
	wrong := s.stage(s.Sink, first, other)
	s.commit(s.Sink, first, staged)
	refused := func(b sink.Batch, must bool) {
		s.Helper()
		for _, to := range []sink.Sink[T]{s.Sink, s.Reopen()} {
			err := to.Commit(s.ctx, b, wrong)
			var conflict *sink.ConflictError
			if is := errors.As(err, &conflict) && errors.Is(err, sink.ErrConflict); must && !is || !is && err != nil {
				s.Fatalf("Commit with other rows = %v, want a ConflictError", err)
			}
			if conflict != nil && (conflict.Batch.ID != b.ID || conflict.Batch.Output != b.Output) {
				s.Fatalf("the conflict names %v", conflict.Batch)
			}
		}
	}
	refused(first, true)
	s.shows(s.rows(first, rows))
	s.commit(s.Sink, second, s.stage(s.Sink, second, rows))
	refused(first, !s.Forgets)
	s.shows(s.rows(first, rows), s.rows(second, rows))
	s.clean(s.Sink, second)
	s.commit(s.Sink, first, staged)
	s.shows(s.rows(first, rows), s.rows(second, rows))
}

func fences[T any](s *suite[T]) {
	first, second, third := s.batch(0), s.batch(1), s.batch(2)
	rows := s.values(0, 2)
	first.Epoch = 5
	stagedFirst := s.stage(s.Sink, first, rows)
	s.commit(s.Sink, first, stagedFirst)

	second.Epoch = 4
	refused := func(to sink.Sink[T], b sink.Batch, have uint64) {
		s.Helper()
		var notes [][]byte
		err := to.Begin(s.ctx, b, 1) // a sink may know as early as this
		if err == nil {
			notes = append(notes, s.part(to, b, 0, rows))
			err = to.Commit(s.ctx, b, s.seal(to, b, notes))
		}
		var fenced *sink.FencedError
		if !errors.As(err, &fenced) {
			s.Fatalf("%v under epoch %d = %v, want a FencedError", b, b.Epoch, err)
		}
		if fenced.Have != have || fenced.Batch.Epoch != b.Epoch {
			s.Fatalf("the error says: %v", fenced)
		}
	}
	refused(s.Sink, second, 5)
	refused(s.Reopen(), second, 5)
	s.shows(s.rows(first, rows))
	s.last(s.Sink, app, output, sink.Mark{ID: 0, Epoch: 5, Digest: sha256.Sum256(stagedFirst)})

	// Another process goes on under a later epoch; the first one wakes up.
	later := s.Reopen()
	second.Epoch, second.Try = 6, 1
	third.Epoch = 5
	early := s.stage(s.Sink, third, rows)
	s.commit(later, second, s.stage(later, second, rows))
	var fenced *sink.FencedError
	if err := s.Sink.Commit(s.ctx, third, early); !errors.As(err, &fenced) {
		s.Fatalf("Commit of a driver that woke up = %v, want a FencedError", err)
	}
	s.shows(s.rows(first, rows), s.rows(second, rows))

	// What it had decided is done: it may be told so, or that it must stop.
	if err := s.Sink.Commit(s.ctx, first, stagedFirst); err != nil && !errors.As(err, &fenced) {
		s.Fatalf("Commit again under an old epoch = %v", err)
	}
	third.Epoch, third.Try = 6, 1
	s.commit(later, third, s.stage(later, third, rows))
	s.shows(s.rows(first, rows), s.rows(second, rows), s.rows(third, rows))
}

func rollForward[T any](s *suite[T]) {
	var want [][]Row[T]
	for id := range int64(6) { // each batch is prepared by one driver and committed by the next
		b := s.batch(id)
		b.Epoch = uint64(1 + id)
		rows := s.values(int(id)*2, 2)
		staged := s.stage(s.Reopen(), b, rows)
		b.Epoch++
		next := s.Reopen()
		if _, err := next.Last(s.ctx, app, output); err != nil {
			s.Fatal(err)
		}
		s.commit(next, b, staged)
		if id%2 == 0 {
			s.commit(s.Reopen(), b, staged)
		}
		s.clean(next, b)
		want = append(want, s.rows(b, rows))
	}
	s.shows(want...)
}

func cleaning[T any](s *suite[T]) {
	var want [][]Row[T]
	for id := range int64(5) {
		b := s.batch(id)
		rows := s.values(int(id)*4, 2)
		s.stage(s.Sink, b, s.values(int(id)*4+2, 2)) // a try that failed
		b.Try = 2
		s.commit(s.Sink, b, s.stage(s.Sink, b, rows))
		want = append(want, s.rows(b, rows))
	}
	for _, id := range []int64{2, 2, 1, 4} {
		s.clean(s.Sink, s.batch(id))
		s.shows(want...)
		s.clean(s.Reopen(), s.batch(id))
		s.shows(want...)
	}
}

func cleaningLater[T any](s *suite[T]) {
	first, second := s.batch(0), s.batch(1)
	one, two := s.values(0, 2), s.values(2, 2)
	s.commit(s.Sink, first, s.stage(s.Sink, first, one))
	staged := s.stage(s.Sink, second, two) // batches overlap: it is prepared when the first one is cleaned
	s.clean(s.Sink, first)
	s.clean(s.Reopen(), first)
	s.commit(s.Sink, second, staged)
	s.clean(s.Sink, second)
	s.shows(s.rows(first, one), s.rows(second, two))
}

func contexts[T any](s *suite[T]) {
	b := s.batch(0)
	rows := s.values(0, 2)
	staged := s.stage(s.Sink, b, rows)
	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	w := s.writer(s.Sink, b, 0, rows)
	note, finished := w.Finish(ended)
	if finished == nil {
		s.Errorf("Finish returned %q though its context had ended", note)
	}
	_, part := s.Sink.Part(ended, b, 0, "late")
	_, seal := s.Sink.Seal(ended, b, nil)
	_, last := s.Sink.Last(ended, app, output)
	for _, c := range []struct {
		call string
		err  error
	}{
		{"Begin", s.Sink.Begin(ended, b, 1)}, {"Part", part}, {"Finish", finished}, {"Seal", seal},
		{"Commit", s.Sink.Commit(ended, b, staged)}, {"Clean", s.Sink.Clean(ended, b)}, {"Last", last},
	} {
		if !errors.Is(c.err, context.Canceled) {
			s.Errorf("%s = %v, want context.Canceled", c.call, c.err)
		}
	}
	if err := w.Abort(ended); err != nil {
		s.Errorf("Abort after Finish has failed: %v", err)
	}
	s.shows()
	s.commit(s.Sink, b, staged)
	s.shows(s.rows(b, rows))
}
