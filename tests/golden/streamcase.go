package golden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// A DStreamCase is a streaming program with what it has to do batch by batch.
type DStreamCase struct {
	Batch         *int64                     `json:"batch"` // ms
	Clock         int64                      `json:"clock"`
	CheckpointDir bool                       `json:"checkpointDir"`
	RememberMs    int64                      `json:"rememberMs"`
	Conf          map[string]json.RawMessage `json:"conf"`
	Before        []json.RawMessage          `json:"before"`
	Nodes         []json.RawMessage          `json:"nodes"`
	Outputs       []json.RawMessage          `json:"outputs"`
	Intervals     int                        `json:"run"`
	Script        []json.RawMessage          `json:"script"`

	Want     map[string][]json.RawMessage   `json:"want"`
	Rerun    []map[string][]json.RawMessage `json:"rerun"`
	Asked    [][]string                     `json:"asked"`
	Order    json.RawMessage                `json:"order"`
	Events   json.RawMessage                `json:"events"`
	Reported *StreamFailure                 `json:"reported"`
	Build    *StreamFailure                 `json:"build"`

	Dev  string                       `json:"dev"`
	Leat map[string][]json.RawMessage `json:"leat"`
}

// A StreamFailure names an error, and the node whose declaration it is about.
type StreamFailure struct {
	Node  string `json:"node"`
	Error string `json:"error"`
	Spark string `json:"spark"`
}

// StreamOptions say what a DStream case is run on.
type StreamOptions struct {
	// Isolate sends blocks and errors through their codecs, as between processes.
	Isolate bool
	// Dir is a folder of the case's own.
	Dir string
	// Idle waits until all goroutines of the program wait, for the clock or for each other. Required;
	// synctest.Wait is one.
	Idle func()
}

// A streamRun is a case under way.
type streamRun struct {
	c        *DStreamCase
	opts     StreamOptions
	interval int64 // ms
	engine   *streamingcontext.Engine
	ssc      *streamingcontext.Context
	clock    *streamingcontext.ManualClock
	builder  *StreamBuilder
	asked    *AskedLog
	outputs  *OutputLog
	events   *EventLog
	declared []StreamOutput
	errs     []error        // what differs
	missing  *NotBuiltError // the first step or setting that is not built

	lives []life                     // the processes before this one
	late  []Step                     // steps that declared something before the first start
	conf  map[string]json.RawMessage // what steps have set for the next context
}

// Run runs the case and returns what differs from its answers, joined.
//
// Errors: *NotBuiltError for words the interpreter does not know, if nothing that could be compared without
// them differs.
func (c *DStreamCase) Run(ctx context.Context, opts StreamOptions) error {
	r, err := c.open(opts)
	if err != nil {
		return err
	}
	err = r.run(ctx)
	if r.ssc != nil {
		if ended := r.end(ctx); ended != nil {
			err = errors.Join(err, fmt.Errorf("end: %w", ended))
		}
	}
	if err == nil {
		r.compare()
	}
	err = errors.Join(append([]error{err}, r.errs...)...)
	if err == nil && r.missing != nil {
		return r.missing
	}
	return err
}

// open makes what the case runs on and, unless it outlives its process, its context.
func (c *DStreamCase) open(opts StreamOptions) (*streamRun, error) {
	r := &streamRun{
		c: c, opts: opts, interval: 1000, clock: &streamingcontext.ManualClock{},
		asked: &AskedLog{}, events: &EventLog{}, outputs: NewOutputLog(filepath.Join(opts.Dir, "out")),
	}
	if c.Batch != nil {
		r.interval = *c.Batch
	}
	r.clock.Set(c.Clock)
	if err := os.MkdirAll(r.filesDir(), 0o755); err != nil {
		return nil, err
	}
	if c.outlives() {
		return r, nil
	}
	so, eo, err := r.options()
	if err != nil {
		return nil, err
	}
	if c.CheckpointDir {
		eo.CheckpointDir = r.stateDir()
	}
	engine, err := streamingcontext.NewEngine(eo)
	if err != nil {
		return nil, err
	}
	so.Engine = engine
	r.engine, r.ssc = engine, streamingcontext.New(so)
	r.builder = NewStreamBuilder(r.ssc, r.filesDir(), r.asked)
	return r, nil
}

// options are those of the case's next context and of the engine it runs on.
func (r *streamRun) options() (so streamingcontext.Options, eo streamingcontext.EngineOptions, err error) {
	eo = streamingcontext.EngineOptions{Cores: 2, Executors: 1, Isolate: r.opts.Isolate, MaxFailures: 1}
	so = streamingcontext.Options{
		Interval: milliseconds(r.interval), Clock: r.clock,
		// Spark goes on behind a batch that failed.
		OnFailure: streamingcontext.FailurePolicy{Then: streamingcontext.SetAside},
		Listeners: []streamingcontext.Listener{r.events.Listener()},
	}
	return so, eo, errors.Join(settings(r.c.Conf, &so, &eo), settings(r.conf, &so, &eo))
}

// settings are the options that a case sets by Spark's names for them.
func settings(conf map[string]json.RawMessage, so *streamingcontext.Options, eo *streamingcontext.EngineOptions) error {
	for name, raw := range conf {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		var err error
		switch name {
		case "spark.streaming.fileStream.minRememberDuration":
			so.FileRemember, err = time.ParseDuration(text)
		case "spark.streaming.concurrentJobs":
			_, err = fmt.Sscan(text, &so.ConcurrentJobs)
		case "spark.default.parallelism":
			_, err = fmt.Sscan(text, &eo.DefaultParallelism)
		case jumpSetting: // is the runner's own
		default:
			return &NotBuiltError{What: "setting", Name: name}
		}
		if err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return nil
}

// run does what the case says. What it returns ends the case; what only differs is in errs.
func (r *streamRun) run(ctx context.Context) error {
	if r.c.outlives() {
		if err := r.create(ctx); err != nil {
			return err
		}
		return r.steps(ctx, r.c.Script)
	}
	if r.c.RememberMs > 0 {
		if err := r.ssc.Remember(milliseconds(r.c.RememberMs)); err != nil {
			return err
		}
	}
	if err := r.steps(ctx, r.c.Before); err != nil {
		return err
	}
	if done, err := r.declare(ctx); done || err != nil {
		return err
	}
	if r.c.Script != nil {
		return r.steps(ctx, r.c.Script)
	}
	if err := r.start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return r.advance(ctx, r.c.Intervals, true)
}

// declare makes the streams and the outputs. It reports whether the case ends there, as one whose
// declaration fails does.
func (r *streamRun) declare(ctx context.Context) (done bool, err error) {
	for _, raw := range r.c.Nodes {
		op, err := ParseStreamOperation(raw)
		if err != nil {
			return true, err
		}
		_, err = r.builder.Build(ctx, op)
		var missing *NotBuiltError
		switch {
		case errors.As(err, &missing):
			return true, missing
		case r.c.Build != nil && r.c.Build.Node == op.Name:
			if class := StreamErrorClass(err); class != r.c.Build.Error {
				return true, fmt.Errorf("declare %s: got error %q (%v), want %s", op.Name, class, err, r.c.Build.Error)
			}
			return true, nil
		case err != nil:
			return true, fmt.Errorf("declare %s: %w", op.Name, err)
		}
	}
	if r.c.Build != nil {
		return true, fmt.Errorf("no node %s, whose declaration should fail", r.c.Build.Node)
	}
	for _, raw := range r.c.Outputs {
		o, err := ParseStreamOutput(raw)
		if err != nil {
			return true, err
		}
		if err := o.Declare(r.builder, r.outputs, len(r.lives) == 0); err != nil {
			return true, fmt.Errorf("declare output %s: %w", o.Name(), err)
		}
		r.declared = append(r.declared, o)
	}
	return false, nil
}

// start starts the context. The batch before the first one is at the clock's last multiple of the interval.
func (r *streamRun) start(ctx context.Context) error {
	r.builder.Zero = dstream.Time(r.clock.Now()).Floor(milliseconds(r.interval), 0)
	defer r.opts.Idle() // it waits for its first batch before the case goes on
	return r.ssc.Start(ctx)
}

// differ notes something that is not as the case wants it.
func (r *streamRun) differ(what string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", what, err))
	}
}
