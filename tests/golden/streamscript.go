package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// A Step is one step of a script, with its answer or its error.
type Step struct {
	Do    string          `json:"do"`
	Want  json.RawMessage `json:"want"`
	Error string          `json:"error"`
	Spark string          `json:"spark"`

	N        *int            `json:"n"`
	Jobs     *bool           `json:"jobs"`
	MS       int64           `json:"ms"`
	Graceful bool            `json:"graceful"`
	Of       string          `json:"of"`
	Up       int             `json:"up"`
	From     json.RawMessage `json:"from"` // a time or a folder
	To       json.RawMessage `json:"to"`   // a time, a folder or a queue
	Node     json.RawMessage `json:"node"`
	Output   json.RawMessage `json:"output"`
	Level    string          `json:"level"`
	K        string          `json:"k"`
	V        json.RawMessage `json:"v"`

	Rows  []json.RawMessage `json:"rows"`
	Parts *int              `json:"parts"`
	Name  string            `json:"name"`
	Lines []string          `json:"lines"`
	MTime int64             `json:"mtime"`
}

// ParseStep reads a step. A field it does not know is a NotBuiltError.
func ParseStep(raw json.RawMessage) (Step, error) {
	var s Step
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, &NotBuiltError{What: "step", Name: fmt.Sprintf("%s (%v)", raw, err)}
	}
	return s, nil
}

// steps runs steps and compares their answers. One that is not built is noted and passed over.
func (r *streamRun) steps(ctx context.Context, raws []json.RawMessage) error {
	for i, raw := range raws {
		step, err := ParseStep(raw)
		var answer Answer
		if err == nil {
			answer, err = r.step(ctx, step)
			if err == nil {
				r.declaresLate(step)
			}
		}
		what := fmt.Sprintf("step %d, %s", i+1, step.Do)
		var missing *NotBuiltError
		switch {
		case errors.As(err, &missing):
			if r.missing == nil {
				r.missing = missing
			}
		case r.c.Dev != "": // what is written is the other engine's answer
		case step.Error != "":
			if class := StreamErrorClass(err); class != step.Error {
				r.differ(what, fmt.Errorf("got error %q (%v), want %s", class, err, step.Error))
			}
		case err != nil:
			r.differ(what, err)
		case step.Want != nil && answer != nil:
			r.differ(what, answer.Matches("parts", step.Want))
		case step.Want != nil:
			r.differ(what, fmt.Errorf("no answer, want %s", step.Want))
		}
	}
	return nil
}

// step does a step. Answer is nil where there is nothing to tell.
func (r *streamRun) step(ctx context.Context, s Step) (Answer, error) {
	for _, family := range []func(context.Context, Step) (bool, Answer, error){r.running, r.asking, r.changing, r.files, r.keeping} {
		if done, answer, err := family(ctx, s); done {
			return answer, err
		}
	}
	return nil, &NotBuiltError{What: "step", Name: s.Do}
}

// running are the steps that start, move and stop the program.
func (r *streamRun) running(ctx context.Context, s Step) (done bool, answer Answer, err error) {
	switch s.Do {
	case "start":
		return true, nil, r.start(ctx)
	case "advance":
		n := 1
		if s.N != nil {
			n = *s.N
		}
		return true, nil, r.advance(ctx, n, s.Jobs == nil || *s.Jobs)
	case "jump":
		return true, nil, r.move(ctx, s.MS, true)
	case "stop":
		return true, nil, r.stop(ctx, s.Graceful)
	case "await":
		answer, err := r.await(ctx)
		return true, answer, err
	case "second-context":
		answer, err := r.secondContext(ctx)
		return true, answer, err
	}
	return false, nil, nil
}

// patience bounds every wait. It is time of package time, which passes at once where everything waits.
const patience = 30 * time.Second

// advance moves the clock on, interval by interval. With jobs it waits each time until the batches are
// settled, without only until nothing moves.
func (r *streamRun) advance(ctx context.Context, n int, jobs bool) error {
	for range n {
		if err := r.move(ctx, r.interval, jobs); err != nil {
			return err
		}
	}
	return nil
}

func (r *streamRun) move(ctx context.Context, ms int64, jobs bool) error {
	r.clock.Advance(ms)
	defer r.opts.Idle()
	zero, ok := r.ssc.Graph().Zero()
	t := dstream.Time(r.clock.Now()).Floor(milliseconds(r.interval), zero)
	if !jobs || !ok || t <= zero || r.ssc.State() != streamingcontext.Active {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.ssc.Settled(ctx, t); err != nil {
		return fmt.Errorf("batch %s is not settled: %w", t, err)
	}
	return nil
}

// stop stops the context. An orderly stop makes the batches that are due: the clock goes on until it returns.
func (r *streamRun) stop(ctx context.Context, graceful bool) error {
	opts := streamingcontext.StopOptions{Graceful: graceful}
	if !graceful {
		return r.ssc.Stop(ctx, opts)
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- r.ssc.Stop(ctx, opts) }()
	defer cancel()
	for range 100 {
		r.opts.Idle()
		select {
		case err := <-stopped:
			return err
		default:
			r.clock.Advance(r.interval)
		}
	}
	cancel()
	return fmt.Errorf("graceful stop does not end: %w", <-stopped)
}

// await says whether the context runs or has stopped, or returns the error that those who wait get.
func (r *streamRun) await(ctx context.Context) (Answer, error) {
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	err := r.ssc.Await(short)
	switch {
	case err == nil:
		return Fact{"stopped"}, nil
	case errors.Is(err, context.DeadlineExceeded) && r.ssc.Err() == nil:
		return Fact{"running"}, nil
	}
	return nil, err
}

// secondContext starts another context on the engine, and stops it if that succeeded.
func (r *streamRun) secondContext(ctx context.Context) (Answer, error) {
	second := streamingcontext.New(streamingcontext.Options{
		Interval: milliseconds(r.interval), Engine: r.engine, Clock: &streamingcontext.ManualClock{},
	})
	rows := streamOfRows(streamingcontext.Slices(second, [][]Value{{Int(1)}}, 2))
	if err := rows.foreach(func(ctx context.Context, _ dstream.Time, collect collector) error {
		_, err := collect(ctx)
		return err
	}).Err(); err != nil {
		return nil, err
	}
	err := second.Start(ctx)
	if stopped := second.Stop(ctx, streamingcontext.StopOptions{}); err == nil {
		err = stopped
	}
	return answered(Fact{"started"}, err)
}
