package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/sinktest"
)

const crashBatches = 3

// A driver is what survives the crashes of a test: the driver log.
type driver struct {
	epoch     uint64
	prepared  map[int64][]byte
	committed int64
	again     bool // calls a method again after an error
}

func crashRows(id int64) [][]count {
	return [][]count{{counted(int(id)), counted(100)}, nil, {counted(200 + int(id))}}
}

// run is the life of a process: it recovers, then runs all batches to the end.
func (d *driver) run(t *testing.T, w *world) error {
	d.epoch++
	s := w.open()
	twice := func(f func() error) error {
		err := f()
		if err != nil && d.again {
			err = f()
		}
		return err
	}
	err := twice(func() error {
		m, err := s.Last(t.Context(), "app", "out")
		if err == nil && m.ID < d.committed {
			t.Errorf("INV-4: batch %d was committed, the sink knows only %d", d.committed, m.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	for id := range int64(crashBatches) {
		b := batch(id)
		b.Epoch = d.epoch
		for try := 1; d.prepared[id] == nil; try++ {
			b.Try = try
			staged, err := d.stage(t, s, b)
			if err != nil && (!d.again || try == 2) {
				return err
			}
			d.prepared[id] = staged // the driver log is durable
		}
		if err := twice(func() error { return s.Commit(t.Context(), b, d.prepared[id]) }); err != nil {
			return err
		}
		d.committed = max(d.committed, id)
		if err := twice(func() error { return s.Clean(t.Context(), b) }); err != nil {
			return err
		}
	}
	return nil
}

// stage runs a try, with an attempt that loses and is not given up.
func (d *driver) stage(t *testing.T, s sink.Sink[count], b sink.Batch) ([]byte, error) {
	attempt := fmt.Sprintf("%d.%d", b.Epoch, b.Try)
	if err := s.Begin(t.Context(), b, 1); err != nil {
		return nil, err
	}
	p, err := s.Part(t.Context(), b, 0, attempt+".lost")
	if err == nil {
		err = p.Write([]count{{"lost", 1}})
	}
	if err == nil {
		_, err = p.Finish(t.Context())
	}
	if err != nil {
		return nil, err
	}
	return tryStage(t.Context(), s, b, attempt, crashRows(b.ID)...)
}

// check compares what a reader sees with what may be there.
func (d *driver) check(t *testing.T, w *world, when string) {
	t.Helper()
	rows, err := w.rows()
	if err != nil {
		t.Fatal(err)
	}
	shown := int64(0)
	if len(rows) > 0 {
		shown = rows[len(rows)-1].Batch + 1
	}
	var want []sinktest.Row[count]
	for id := range shown {
		for part, values := range crashRows(id) {
			for _, v := range values {
				want = append(want, sinktest.Row[count]{App: "app", Output: "out", Batch: id, Partition: part, Value: v})
			}
		}
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("%s: INV-2: the rows are not those of %d whole batches (-want +got):\n%s", when, shown, diff)
	}
	if shown <= d.committed || shown > 0 && d.prepared[shown-1] == nil {
		t.Errorf("%s: %d batches show, %d is committed", when, shown, d.committed)
	}
}

func (d *driver) ended(t *testing.T, w *world, when string) {
	t.Helper()
	d.committed = crashBatches - 1
	d.check(t, w, when)
	if n := w.staged(); n > 0 {
		t.Errorf("%s: INV-17: %d rows stay staged", when, n)
	}
}

// doubled returns a world without a server: faults are the double's.
func doubled(t *testing.T) *world {
	w := &world{t: t, opts: options(worlds.Add(1))}
	w.fake = newDouble(t, w.opts.statements())
	w.db = w.fake
	return w
}

func TestCrashAtEveryCall(t *testing.T) {
	points := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			w, d := doubled(t), &driver{prepared: make(map[int64][]byte), committed: -1}
			w.fake.plan(n, after, true)
			err := d.run(t, w)
			if !w.fake.dead {
				if err != nil {
					t.Fatal(err)
				}
				d.ended(t, w, "without a crash")
				break
			}
			points++
			when := fmt.Sprintf("crash at call %d, after %v: %s", n, after, w.fake.what)
			d.check(t, w, when)
			w.fake.plan(1+n*7%23, !after, true)
			err = d.run(t, w)
			if err != nil && !errors.Is(err, errFault) {
				t.Errorf("%s: recovery: %v", when, err)
			}
			d.check(t, w, when+", and again")
			w.fake.plan(0, false, false)
			if err := d.run(t, w); err != nil {
				t.Errorf("%s: second recovery: %v", when, err)
			}
			d.ended(t, w, when)
			if t.Failed() {
				return
			}
		}
	}
	if points < 100 {
		t.Errorf("only %d points", points)
	}
}

func TestAFaultOfAnyCallIsReportedAndOvercome(t *testing.T) {
	for _, again := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			for n := 1; ; n++ {
				w, d := doubled(t), &driver{prepared: make(map[int64][]byte), committed: -1, again: again}
				w.fake.plan(n, after, false)
				err := d.run(t, w)
				if w.fake.calls < n {
					break
				}
				when := fmt.Sprintf("fault of call %d, after %v, called again %v: %s", n, after, again, w.fake.what)
				if again && err != nil || err != nil && !errors.Is(err, errFault) {
					t.Errorf("%s: %v", when, err)
				}
				d.check(t, w, when)
				if err := d.run(t, w); err != nil {
					t.Errorf("%s: the next start: %v", when, err)
				}
				d.ended(t, w, when)
				if t.Failed() {
					return
				}
			}
		}
	}
}
