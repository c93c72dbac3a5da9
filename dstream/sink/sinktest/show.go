package sinktest

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
)

func visibility[T any](s *suite[T]) {
	b := s.batch(0)
	one, two := s.values(0, 3), s.values(3, 2)
	s.shows()
	if err := s.Sink.Begin(s.ctx, b, 2); err != nil {
		s.Fatal(err)
	}
	s.shows()
	notes := [][]byte{s.part(s.Sink, b, 0, one), nil}
	s.shows()
	w := s.writer(s.Sink, b, 1, two)
	s.shows()
	var err error
	if notes[1], err = w.Finish(s.ctx); err != nil {
		s.Fatal(err)
	}
	s.shows()
	staged := s.seal(s.Sink, b, notes)
	s.shows()
	s.last(s.Sink, app, output, none)
	s.commit(s.Sink, b, staged)
	s.shows(s.rows(b, one, two))
}

func beside[T any](s *suite[T]) {
	const batches, parts, each = 20, 3, 4
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		seen := 0
		for last := false; !last; {
			select {
			case <-ended:
				last = true // and look once more
			default:
			}
			rows, err := s.Rows()
			if err != nil {
				s.Errorf("Rows beside commits: %v", err)
				return
			}
			if n := len(rows); n%(parts*each) != 0 || n < seen {
				s.Errorf("a reader saw %d rows after %d, of batches of %d", n, seen, parts*each)
				return
			}
			for i, row := range rows {
				if want := int64(i / (parts * each)); row.Batch != want || row.Partition != i/each%parts {
					s.Errorf("a reader saw row %d in batch %d, partition %d", i, row.Batch, row.Partition)
					return
				}
			}
			seen = len(rows)
		}
		if seen != batches*parts*each {
			s.Errorf("at the end a reader saw %d rows, want %d", seen, batches*parts*each)
		}
	})
	func() {
		defer close(ended) // also when the case is given up
		for id := range int64(batches) {
			b, first := s.batch(id), int(id)*parts*each
			staged := s.stage(s.Sink, b, s.values(first, each), s.values(first+each, each), s.values(first+2*each, each))
			s.commit(s.Sink, b, staged)
			s.clean(s.Sink, b)
		}
	}()
	wg.Wait()
}

func order[T any](s *suite[T]) {
	var want [][]Row[T]
	for id := range int64(12) { // more than one digit
		b := s.batch(id)
		parts := make([][]T, 11)
		notes := make([][]byte, len(parts))
		if err := s.Sink.Begin(s.ctx, b, len(parts)); err != nil {
			s.Fatal(err)
		}
		for i := len(parts) - 1; i >= 0; i-- { // the last one ends first
			parts[i] = s.values(int(id)*50+i*4, 1+i%4)
			notes[i] = s.part(s.Sink, b, i, parts[i])
		}
		s.commit(s.Sink, b, s.seal(s.Sink, b, notes))
		want = append(want, s.rows(b, parts...))
	}
	s.shows(want...)
}

func marks[T any](s *suite[T]) {
	s.last(s.Sink, app, output, none)
	s.last(s.Sink, app, "other", none)
	second := s.Reopen()
	s.last(second, app, output, none)
	for id := range int64(3) {
		b := s.batch(id)
		b.Epoch = uint64(7 + id/2)
		staged := s.stage(s.Sink, b, s.values(int(id), 2))
		before, err := s.Sink.Last(s.ctx, app, output)
		if err != nil || before.ID != id-1 {
			s.Fatalf("Last before batch %d is committed = %+v, %v", id, before, err)
		}
		s.commit(s.Sink, b, staged)
		want := sink.Mark{ID: id, Epoch: b.Epoch, Digest: sha256.Sum256(staged)}
		s.last(s.Sink, app, output, want)
		s.last(second, app, output, want)
		s.clean(s.Sink, b)
		s.last(s.Reopen(), app, output, want)
	}
	s.last(s.Sink, app, "other", none)
	s.last(s.Sink, "other", output, none)
}

func empties[T any](s *suite[T]) {
	none := s.batch(0)
	staged := s.stage(s.Sink, none)
	s.commit(s.Sink, none, staged)
	s.commit(s.Sink, none, staged)
	s.shows()
	s.last(s.Sink, app, output, sink.Mark{ID: 0, Epoch: 1, Digest: sha256.Sum256(staged)})

	empty := s.batch(1)
	staged = s.stage(s.Sink, empty, nil, nil)
	s.commit(s.Sink, empty, staged)
	s.shows()
	s.last(s.Reopen(), app, output, sink.Mark{ID: 1, Epoch: 1, Digest: sha256.Sum256(staged)})

	some := s.batch(2)
	rows := s.values(0, 3)
	staged = s.stage(s.Sink, some, nil, rows, nil)
	s.commit(s.Sink, some, staged)
	s.clean(s.Sink, some)
	s.shows(s.rows(some, nil, rows, nil))
	s.last(s.Reopen(), app, output, sink.Mark{ID: 2, Epoch: 1, Digest: sha256.Sum256(staged)})
}

func gaps[T any](s *suite[T]) {
	var want [][]Row[T]
	for _, id := range []int64{3, 4, 9, 500, 5_000_000_000} {
		b := s.batch(id)
		rows := s.values(int(id%900), 2)
		staged := s.stage(s.Sink, b, rows)
		s.commit(s.Sink, b, staged)
		s.clean(s.Sink, b)
		want = append(want, s.rows(b, rows))
		s.shows(want...)
		s.last(s.Sink, app, output, sink.Mark{ID: id, Epoch: 1, Digest: sha256.Sum256(staged)})
	}
}

func apart[T any](s *suite[T]) {
	// Names that are no file names, that differ little, that would leave a folder.
	names := []string{"a", "A", "a b", "a/b", "a_b", "a%2fb", "..", "../x", "", "data", "commits", "ä", "\t", ".a", "a.", "con"}
	if len(names) > 30 {
		s.Fatal("values overlap")
	}
	type at struct{ app, output string }
	staged := make(map[at][]byte)
	var places []at
	for _, name := range names {
		places = append(places, at{name, "o"}, at{"p", name})
	}
	for id := range int64(2) {
		for i, p := range places {
			b := s.batch(id)
			b.App, b.Output = p.app, p.output
			staged[p] = s.stage(s.Sink, b, s.values(i*10+int(id)*5, 2))
			s.commit(s.Sink, b, staged[p])
			s.clean(s.Sink, b)
		}
	}
	other := s.Reopen()
	for i, p := range places {
		s.last(other, p.app, p.output, sink.Mark{ID: 1, Epoch: 1, Digest: sha256.Sum256(staged[p])})
		b := s.batch(0)
		b.App, b.Output = p.app, p.output
		next := b
		next.ID = 1
		s.showsOf(p.app, p.output, s.rows(b, s.values(i*10, 2)), s.rows(next, s.values(i*10+5, 2)))
	}
	// One output's epoch and batches are not another's.
	b := s.batch(0)
	b.App, b.Output, b.Epoch = "p", "late", 1
	high := s.batch(7)
	high.App, high.Output, high.Epoch = "p", "early", 9
	s.commit(s.Sink, high, s.stage(s.Sink, high, s.values(0, 1)))
	s.commit(s.Sink, b, s.stage(s.Sink, b, s.values(1, 1)))
	s.showsOf("p", "late", s.rows(b, s.values(1, 1)))
	s.showsOf("p", "early", s.rows(high, s.values(0, 1)))
}

func many[T any](s *suite[T]) {
	b := s.batch(0)
	rows := make([]T, 0, 5000)
	for i := range cap(rows) {
		rows = append(rows, s.Value(i%1000))
	}
	s.commit(s.Sink, b, s.stage(s.Sink, b, rows, nil, rows[:1]))
	s.shows(s.rows(b, rows, nil, rows[:1]))
}

func concurrent[T any](s *suite[T]) {
	const parts = 8
	b := s.batch(0)
	if err := s.Sink.Begin(s.ctx, b, parts); err != nil {
		s.Fatal(err)
	}
	notes := make([][]byte, parts)
	want := make([][]T, parts)
	var wg sync.WaitGroup
	for part := range parts {
		want[part] = s.values(part*10, 10)
		for attempt := range 2 {
			wg.Go(func() {
				w, err := s.Sink.Part(s.ctx, b, part, fmt.Sprintf("c%d-%d", part, attempt))
				for i := 0; i < len(want[part]) && err == nil; i++ {
					err = w.Write(want[part][i : i+1])
				}
				var note []byte
				switch {
				case err != nil:
				case attempt == 0:
					note, err = w.Finish(s.ctx)
					notes[part] = note
				default:
					err = w.Abort(s.ctx)
				}
				if err != nil {
					s.Errorf("partition %d, attempt %d: %v", part, attempt, err)
				}
			})
		}
	}
	wg.Wait()
	if s.Failed() {
		return
	}
	s.commit(s.Sink, b, s.seal(s.Sink, b, notes))
	s.shows(s.rows(b, want...))
}
