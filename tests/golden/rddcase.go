package golden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// An RDDCase is a pipeline with questions about it.
type RDDCase struct {
	Ops       []json.RawMessage          `json:"ops"`
	Do        []json.RawMessage          `json:"do"`
	Context   map[string]json.RawMessage `json:"context"`
	Build     *BuildFailure              `json:"build"`
	BuildJobs []JobShape                 `json:"buildJobs"`
}

// A BuildFailure names the operation that failed while the pipeline was made.
type BuildFailure struct {
	Op    string `json:"op"`
	Error string `json:"error"`
	Spark string `json:"spark"`
}

// Options say what a case is run on.
type Options struct {
	// Isolate sends blocks and errors through their codecs, as between processes.
	Isolate bool
}

// Run runs the case and returns what differs from its answers, joined.
//
// Errors: *NotBuiltError for words the interpreter does not know.
func (c *RDDCase) Run(ctx context.Context, opts Options) error {
	settings, err := contextOptions(c.Context)
	if err != nil {
		return err
	}
	log, rc, stop, err := openContext(settings, opts)
	if err != nil {
		return err
	}
	defer stop()
	b := NewBuilder(rc)
	if done, err := c.build(ctx, b, log); done || err != nil {
		return err
	}
	var errs []error
	for _, raw := range c.Do {
		a, err := ParseAction(raw)
		if err != nil {
			return err
		}
		err = b.check(ctx, a, log)
		var missing *NotBuiltError
		if errors.As(err, &missing) {
			return missing
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s of %s: %w", a.Act, a.Of, err))
		}
	}
	return errors.Join(errs...)
}

// openContext returns a context over a local scheduler of two slots, and what closes it.
func openContext(settings rdd.Options, opts Options) (*JobLog, *rdd.Context, func() error, error) {
	log := NewJobLog()
	cluster := local.New(local.Options{
		Executors: 1, Slots: 2, Isolate: opts.Isolate,
		ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())},
	})
	s := scheduler.New(cluster, scheduler.Options{MaxFailures: 1, Listeners: []scheduler.Listener{log.Listener()}})
	log.Runner = s
	rc, err := rdd.NewContext(log, settings)
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	return log, rc, s.Close, nil
}

// contextOptions reads a case's settings.
func contextOptions(settings map[string]json.RawMessage) (rdd.Options, error) {
	opts := rdd.Options{Cores: 2}
	for name, raw := range settings {
		if name != "spark.default.parallelism" {
			return opts, &NotBuiltError{What: "setting", Name: name}
		}
		if err := json.Unmarshal(raw, &opts.DefaultParallelism); err != nil {
			return opts, fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return opts, nil
}

// build makes the datasets. It reports whether the case ends there, as one whose building fails
// does.
func (c *RDDCase) build(ctx context.Context, b *Builder, log *JobLog) (done bool, err error) {
	for _, raw := range c.Ops {
		op, err := ParseOperation(raw)
		if err != nil {
			return true, err
		}
		_, err = b.Build(ctx, op)
		var missing *NotBuiltError
		switch {
		case errors.As(err, &missing):
			return true, missing
		case c.Build != nil && c.Build.Op == op.Name:
			if class := ErrorClass(err); class != c.Build.Error {
				return true, fmt.Errorf("build %s: got error %q (%v), want %s", op.Name, class, err, c.Build.Error)
			}
			return true, nil
		case err != nil:
			return true, fmt.Errorf("build %s: %w", op.Name, err)
		}
	}
	if c.Build != nil {
		return true, fmt.Errorf("no operation %s, whose building should fail", c.Build.Op)
	}
	return false, sameJobs("build", log.Shapes(), c.BuildJobs)
}

// check runs an action and compares its answer and its jobs.
func (b *Builder) check(ctx context.Context, a Action, log *JobLog) error {
	answer, err := b.Act(ctx, a)
	var missing *NotBuiltError
	if errors.As(err, &missing) {
		return missing
	}
	shapes := log.Shapes()
	var errs []error
	switch {
	case a.Error != "":
		if class := ErrorClass(err); class != a.Error {
			errs = append(errs, fmt.Errorf("got error %q (%v), want %s", class, err, a.Error))
		}
	case err != nil:
		return err
	default:
		errs = append(errs, answer.Matches(a.Cmp, a.Want))
	}
	if a.Jobs != nil {
		errs = append(errs, sameJobs("its jobs", shapes, *a.Jobs))
	}
	return errors.Join(errs...)
}

// ErrorClass returns the name that cases have for an error, empty for none or an unknown one.
func ErrorClass(err error) string {
	var user *rdd.UserError
	switch {
	case errors.Is(err, rdd.ErrLengths):
		return "ErrZip"
	case errors.Is(err, rdd.ErrEmpty):
		return "ErrEmpty"
	case errors.As(err, &user):
		return "ErrUser"
	case errors.Is(err, rdd.ErrArgument):
		return "ErrArgument"
	}
	return ""
}
