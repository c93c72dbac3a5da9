package crashtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// An inputAccount is what the kit knows of an input.
type inputAccount struct {
	recorded map[dstream.Time][]byte             // what it recorded last
	rows     map[partitionOf]([sha256.Size]byte) // of batches that are begun, the first time that they were read
}

type partitionOf struct {
	time dstream.Time
	part int
}

// WatchInput returns an input that asks another, whose calls are points: "input", the name, and "rdd", "record", "replay", "save" or "load". An
// input that is no dstream.InputRecorder or InputSaver has fewer. The kit checks that what is replayed is what was recorded, and that a batch
// that has begun has the same records each time that they are read.
//
// Cost: a hash of each record that is read.
func WatchInput[T any](w *World, name string, in dstream.Input[T]) dstream.Input[T] {
	p := w.current()
	w.expect("input " + name + " rdd")
	w.mu.Lock()
	a := w.inputs[name]
	if a == nil {
		a = &inputAccount{recorded: map[dstream.Time][]byte{}, rows: map[partitionOf][sha256.Size]byte{}}
		w.inputs[name] = a
	}
	w.mu.Unlock()
	plain := &watchedInput[T]{p: p, name: name, in: in, account: a}
	recorder, ok := in.(dstream.InputRecorder)
	if !ok {
		return plain
	}
	w.expect("input "+name+" record", "input "+name+" replay")
	recording := &recordingInput[T]{plain, recorder}
	saver, ok := in.(dstream.InputSaver)
	if !ok {
		return recording
	}
	w.expect("input " + name + " save")
	return &savingInput[T]{recording, saver}
}

type watchedInput[T any] struct {
	p       *process
	name    string
	in      dstream.Input[T]
	account *inputAccount // guarded by the world
}

func (in *watchedInput[T]) step(call string, effect func() error) error {
	return in.p.step("input "+in.name+" "+call, effect)
}

func (in *watchedInput[T]) RDD(c *rdd.Context, t dstream.Time) (r *rdd.RDD[T], err error) {
	err = in.step("rdd", func() error {
		r, err = in.in.RDD(c, t)
		return err
	})
	if err != nil || r == nil {
		return nil, err
	}
	return rdd.MapPartitionsWithContext(r, func(ctx context.Context, part int, rows iter.Seq[T]) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			h := sha256.New()
			for row := range rows {
				_, _ = fmt.Fprintf(h, "%#v\n", row) // a hash takes all
				if !yield(row, nil) {
					return // not all of it was read
				}
			}
			// A task that is cancelled, as by a death, sees an input that ends early.
			if ctx.Err() == nil {
				in.read(partitionOf{t, part}, [sha256.Size]byte(h.Sum(nil)))
			}
		}
	}), nil
}

// read compares the records of a partition with those that it had before.
func (in *watchedInput[T]) read(at partitionOf, rows [sha256.Size]byte) {
	w := in.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if in.p != w.process || !slices.Contains(w.begun, int64(at.time)) {
		return
	}
	if had, ok := in.account.rows[at]; !ok {
		in.account.rows[at] = rows
	} else if had != rows {
		w.breachHeld(InputRecorded, "input %s: the batch at %d ms has other records in partition %d than when it had begun", in.name, at.time, at.part)
	}
}

func (in *watchedInput[T]) Forget(upTo dstream.Time) {
	if f, ok := in.in.(dstream.InputForgetter); ok {
		f.Forget(upTo)
	}
}

func (in *watchedInput[T]) Report(t dstream.Time) (records int64, description string, ok bool) {
	if r, is := in.in.(dstream.InputReporter); is {
		return r.Report(t)
	}
	return 0, "", false
}

type recordingInput[T any] struct {
	*watchedInput[T]
	recorder dstream.InputRecorder
}

func (in *recordingInput[T]) Record(t dstream.Time) (recorded []byte, err error) {
	err = in.step("record", func() error {
		recorded, err = in.recorder.Record(t)
		if err == nil {
			w := in.p.w
			w.mu.Lock()
			defer w.mu.Unlock()
			in.account.recorded[t] = bytes.Clone(recorded)
		}
		return err
	})
	return recorded, err
}

func (in *recordingInput[T]) Replay(t dstream.Time, recorded []byte) error {
	return in.step("replay", func() error {
		w := in.p.w
		w.mu.Lock()
		if had := in.account.recorded[t]; !bytes.Equal(had, recorded) {
			w.breachHeld(InputRecorded, "input %s: the batch at %d ms recorded %q and is run again with %q", in.name, t, had, recorded)
		}
		w.mu.Unlock()
		return in.recorder.Replay(t, recorded)
	})
}

type savingInput[T any] struct {
	*recordingInput[T]
	saver dstream.InputSaver
}

func (in *savingInput[T]) Save() (data []byte, err error) {
	err = in.step("save", func() error {
		data, err = in.saver.Save()
		return err
	})
	return data, err
}

func (in *savingInput[T]) Load(data []byte) error {
	return in.step("load", func() error { return in.saver.Load(data) })
}
