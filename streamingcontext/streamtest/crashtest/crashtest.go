package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext"
)

// Defaults of a Program.
const (
	DefaultBatches = 6
	DefaultSample  = 150
	DefaultTimeout = 10 * time.Second
)

// A Program is what is run. Only Setup is required.
type Program struct {
	// Setup declares inputs, streams and outputs, as that of streamingcontext.GetOrCreate.
	Setup func(ssc *streamingcontext.Context, w *World) error
	// Options are those of the context. Clock, Log, Engine and folders must be zero. No Interval means a second, no App "app".
	Options streamingcontext.Options
	// Batches is how many batches a case has before the one at its end. 0 means 6. It should be enough for each window to slide, and for a
	// second checkpoint.
	Batches int

	// Seed chooses the cases, and what half of a disk is lost. 0 means 1.
	Seed uint64
	// Sample is how many cases are run; each point has one at least. 0 means 150.
	Sample int
	// All runs all cases: each time that a point comes in the first run with each fault, and in recoveries each point with each fault and each
	// loss.
	All bool
	// Timeout bounds each process, in time of package time. 0 means 10 s.
	Timeout time.Duration
	// Dir is where folders of contexts are made. Empty means a file system in memory where there is one, else that of
	// temporary files.
	Dir string
}

// Validate returns what is wrong with the program, joined.
func (p Program) Validate() error {
	var errs []error
	if p.Setup == nil {
		errs = append(errs, errors.New("crash test: Setup is nil"))
	}
	if o := p.Options; o.Clock != nil || o.Log != nil || o.Engine != nil || o.CheckpointDir != "" || o.EngineOptions.CheckpointDir != "" {
		errs = append(errs, errors.New("crash test: Options: Clock, Log, Engine and CheckpointDir must be zero"))
	}
	if p.Batches < 0 || p.Sample < 0 || p.Timeout < 0 {
		errs = append(errs, errors.New("crash test: Batches, Sample and Timeout must not be negative"))
	}
	o := p.withDefaults().Options
	return errors.Join(append(errs, o.Validate())...)
}

// String returns what chooses the cases.
func (p Program) String() string {
	p = p.withDefaults()
	if p.All {
		return fmt.Sprintf("%d batches, all cases, seed %d", p.Batches, p.Seed)
	}
	return fmt.Sprintf("%d batches, %d cases, seed %d", p.Batches, p.Sample, p.Seed)
}

func (p Program) withDefaults() Program {
	if p.Options.Interval == 0 {
		p.Options.Interval = time.Second
	}
	if p.Options.App == "" {
		p.Options.App = "app"
	}
	if p.Batches == 0 {
		p.Batches = DefaultBatches
	}
	if p.Seed == 0 {
		p.Seed = 1
	}
	if p.Sample == 0 {
		p.Sample = DefaultSample
	}
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	return p
}

// dense reports whether every multiple of the interval is a batch time.
func (p Program) dense() bool {
	return p.Options.Missed == streamingcontext.MissedEach && !p.Options.DynamicInterval.Enabled
}

// Run runs the cases of a program and fails the test for each promise that broke, and for points that no fault has hit. It logs
// the report.
//
// Cost: some ten milliseconds a case of a small program.
func Run(t testing.TB, p Program) Report {
	t.Helper()
	r, err := Explore(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.String())
	for _, b := range r.Broken {
		t.Error(b.String())
	}
	for _, point := range r.Missed {
		t.Errorf("no fault has hit the point %q", point)
	}
	return r
}

// Explore is Run without a test: it only returns the report.
//
// Errors: of Program.Validate; of the undisturbed run; ctx's.
func Explore(ctx context.Context, p Program) (Report, error) {
	if err := p.Validate(); err != nil {
		return Report{}, err
	}
	e := &explorer{p: p.withDefaults()}
	return e.run(ctx)
}

// folder makes a folder of a context.
func (p Program) folder() (dir string, remove func() error, err error) {
	const pattern = "leat-crashtest-*"
	if p.Dir != "" {
		dir, err = os.MkdirTemp(p.Dir, pattern)
	} else if dir, err = os.MkdirTemp("/dev/shm", pattern); err != nil {
		dir, err = os.MkdirTemp("", pattern)
	}
	return dir, func() error { return os.RemoveAll(dir) }, err
}

func isInjected(err error) bool { return errors.Is(err, ErrInjected) || errors.Is(err, ErrDied) }
