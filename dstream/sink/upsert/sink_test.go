package upsert_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
	"github.com/leat-io/leat/dstream/sink/upsert"
)

type count struct {
	Word string
	N    int64
}

func entryOf(c *count) upsert.Entry[string, int64] {
	return upsert.Entry[string, int64]{Key: c.Word, Value: c.N}
}

func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Time: id * 1000, Epoch: 1, Try: 1}
}

func stage(ctx context.Context, s sink.Sink[count], b sink.Batch, attempt string, parts ...[]count) ([]byte, error) {
	if err := s.Begin(ctx, b, len(parts)); err != nil {
		return nil, err
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		w, err := s.Part(ctx, b, i, attempt)
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			notes[i], err = w.Finish(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Seal(ctx, b, notes)
}

var errStore = errors.New("the store is away")

// A store is a Memory that fails when a plan says so, and counts.
type store struct {
	*upsert.Memory[string, int64]
	t     *testing.T
	calls int
	fail  int // the call that fails, after half of its entries
	puts  int
}

func newStore(t *testing.T) *store {
	return &store{Memory: upsert.NewMemory[string, int64](), t: t}
}

func (s *store) Put(ctx context.Context, entries []upsert.Entry[string, int64], version int64) error {
	seen := make(map[string]bool)
	for _, e := range entries {
		if seen[e.Key] {
			s.t.Errorf("%q is twice in a Put", e.Key)
		}
		seen[e.Key] = true
	}
	s.calls++
	if s.calls == s.fail {
		entries = entries[:len(entries)/2]
	}
	s.puts += len(entries)
	if err := s.Memory.Put(ctx, entries, version); err != nil {
		return err
	}
	if s.calls == s.fail {
		return errStore
	}
	return nil
}

// clone returns a store with the values of the test that crashes.
func (s *store) clone() *store {
	to := newStore(s.t)
	for _, key := range []string{"a", "b", "only0", "only1", "only2"} {
		if value, version, ok := s.Get(key); ok {
			_ = to.Memory.Put(s.t.Context(), []upsert.Entry[string, int64]{{Key: key, Value: value}}, version)
		}
	}
	return to
}

func (s *store) has(want map[string]int64, when string) {
	s.t.Helper()
	for word, n := range want {
		if got, _, ok := s.Get(word); !ok || got != n {
			s.t.Errorf("%s: %s is %d (%v), want %d", when, word, got, ok, n)
		}
	}
	if s.Len() != len(want) {
		s.t.Errorf("%s: %d keys, want %d", when, s.Len(), len(want))
	}
}

func TestTheLastRowOfAKeyStays(t *testing.T) {
	to := newStore(t)
	s := upsert.New(t.TempDir(), to, entryOf, upsert.Options{Puts: 2})
	if s.Promise() != sink.AtLeastOnce {
		t.Error("it promises more than it can keep")
	}
	staged, err := stage(t.Context(), s, batch(0), "a", []count{{"a", 1}, {"b", 1}, {"a", 2}, {"c", 1}}, nil, []count{{"c", 5}, {"big", math.MaxInt64}})
	if err == nil {
		err = s.Commit(t.Context(), batch(0), staged)
	}
	if err != nil {
		t.Fatal(err)
	}
	to.has(map[string]int64{"a": 2, "b": 1, "c": 5, "big": math.MaxInt64}, "after a batch")
	puts := to.puts
	if err := s.Commit(t.Context(), batch(0), staged); err != nil || to.puts != puts {
		t.Errorf("Commit again = %v, and put %d entries", err, to.puts-puts)
	}
}

func TestALateDriverChangesNothing(t *testing.T) {
	to := newStore(t)
	late := upsert.New(t.TempDir(), to, entryOf, upsert.Options{}) // on a machine of its own: its spool knows of nothing
	staged, err := stage(t.Context(), late, batch(0), "a", []count{{"a", 1}, {"b", 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := upsert.New(t.TempDir(), to, entryOf, upsert.Options{})
	for id := range int64(2) {
		same, err := stage(t.Context(), s, batch(id), "a", []count{{"a", id + 1}, {"b", 1}})
		if err == nil {
			err = s.Commit(t.Context(), batch(id), same)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := late.Commit(t.Context(), batch(0), staged); err != nil {
		t.Fatal(err)
	}
	to.has(map[string]int64{"a": 2, "b": 1}, "after a late batch 0")
	if _, version, _ := to.Get("b"); version != 1 {
		t.Errorf("b has version %d, want 1", version)
	}
}

// run is the life of a process with a driver log of prepared batches. Batch id holds crashRows(id).
func run(ctx context.Context, fsys files.FS, to *store, prepared map[int64][]byte, epoch uint64) error {
	s := upsert.New("/spool", to, entryOf, upsert.Options{Puts: 2, FS: fsys})
	if _, err := s.Last(ctx, "app", "out"); err != nil {
		return err
	}
	for id := range int64(3) {
		b := batch(id)
		b.Epoch = epoch
		if prepared[id] == nil {
			staged, err := stage(ctx, s, b, fmt.Sprint(epoch), crashRows(id)...)
			if err != nil {
				return err
			}
			prepared[id] = staged
		}
		if err := s.Commit(ctx, b, prepared[id]); err != nil {
			return err
		}
		if err := s.Clean(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func crashRows(id int64) [][]count {
	return [][]count{{{"a", 10 * id}, {"b", id}, {"a", 10*id + 1}, {fmt.Sprint("only", id), id}}, {{"b", id + 100}, {"b", id + 200}}, nil}
}

func TestCrashAtEveryCallKeepsTheLastValues(t *testing.T) {
	want := map[string]int64{"a": 21, "b": 202, "only0": 0, "only1": 1, "only2": 2}
	points := 0
	for _, when := range []disk.When{disk.Before, disk.After} {
		for n := 1; ; n++ {
			fsys, to, prepared := disk.New(), newStore(t), make(map[int64][]byte)
			fsys.CrashAt(n, when)
			err := run(t.Context(), fsys, to, prepared, 1)
			if !fsys.Crashed() {
				if err != nil {
					t.Fatal(err)
				}
				to.has(want, "without a crash")
				break
			}
			points++
			at := fmt.Sprintf("crash %v %v", when, fsys.Last())
			for _, loss := range disk.Losses {
				again, to := fsys.After(loss, uint64(n)), to.clone()
				rng := rand.New(rand.NewPCG(uint64(n), uint64(loss)))
				log := make(map[int64][]byte)
				for id := range int64(3) {
					if prepared[id] != nil {
						log[id] = prepared[id]
					}
				}
				again.CrashAt(1+rng.IntN(40), when)
				if err := run(t.Context(), again, to, log, 2); err != nil && !again.Crashed() {
					t.Fatalf("%s, %v: %v", at, loss, err)
				}
				if again.Crashed() {
					again = again.After(loss, 1)
				}
				again.CrashAt(0, when)
				if err := run(t.Context(), again, to, log, 3); err != nil {
					t.Fatalf("%s, %v: the next start: %v", at, loss, err)
				}
				to.has(want, at)
			}
		}
	}
	if points < 40 {
		t.Errorf("only %d points", points)
	}
}

func TestAStoreThatFailsIsAskedAgain(t *testing.T) {
	for n := 1; ; n++ {
		to, s := newStore(t), (*upsert.Sink[count, string, int64])(nil)
		to.fail = n
		s = upsert.New(t.TempDir(), to, entryOf, upsert.Options{Puts: 2})
		staged, err := stage(t.Context(), s, batch(1), "a", crashRows(1)...)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Commit(t.Context(), batch(1), staged)
		if to.calls < n {
			if err != nil || n < 3 {
				t.Errorf("%d calls, %v", to.calls, err)
			}
			return
		}
		if !errors.Is(err, errStore) {
			t.Errorf("Commit = %v", err)
		}
		if m, err := s.Last(t.Context(), "app", "out"); err != nil || m.ID != -1 {
			t.Errorf("Last after a failure = %v, %v", m, err)
		}
		if err := s.Commit(t.Context(), batch(1), staged); err != nil {
			t.Error(err)
		}
		to.has(map[string]int64{"a": 11, "b": 201, "only1": 1}, fmt.Sprint("fault of call ", n))
	}
}

func TestRowsThatHaveNoJSONAreNamed(t *testing.T) {
	s := upsert.New(t.TempDir(), upsert.NewMemory[string, float64](), func(f *float64) upsert.Entry[string, float64] {
		return upsert.Entry[string, float64]{Key: "x", Value: *f}
	}, upsert.Options{})
	if err := s.Begin(t.Context(), batch(0), 1); err != nil {
		t.Fatal(err)
	}
	w, err := s.Part(t.Context(), batch(0), 3, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]float64{1, math.NaN()}); err == nil || !strings.Contains(err.Error(), "partition 3, row 1") {
		t.Errorf("Write = %v", err)
	}
	if _, err := w.Finish(t.Context()); err == nil {
		t.Error("Finish after a failure returned nil")
	}
	if err := w.Abort(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	for _, s := range []*upsert.Sink[count, string, int64]{
		upsert.New("d", upsert.NewMemory[string, int64](), entryOf, upsert.Options{Puts: -1}),
		upsert.New[count, string, int64]("d", nil, entryOf, upsert.Options{}),
		upsert.New[count]("d", upsert.NewMemory[string, int64](), nil, upsert.Options{}),
	} {
		_, last := s.Last(t.Context(), "", "")
		for _, err := range []error{s.Begin(t.Context(), batch(0), 1), s.Commit(t.Context(), batch(0), nil), s.Clean(t.Context(), batch(0)), last} {
			if !errors.Is(err, upsert.ErrOptions) {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}
