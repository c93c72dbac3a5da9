package local

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// Options set up a cluster. The zero value is one executor with a slot per CPU.
type Options struct {
	// Executors is how many there are at the start. 0 means 1.
	Executors int
	// Slots is how many tasks one executor runs at once. 0 means GOMAXPROCS.
	Slots int
	// Memory is how many bytes running tasks may reserve and kept blocks may take on all executors together; each
	// has an equal part, and one that is added later as much again. What has no room goes to disk. 0 means
	// six tenths of what the process may use: the Go runtime's memory limit if one is set, else that of the
	// process's control group, else what the machine has; without a limit where none of them is known.
	Memory int64
	// Dir is the folder for files; each running cluster makes one of its own in it when the first file is
	// written. Empty means the system's folder for temporary files.
	Dir string
	// Isolate sends everything through its codec, as between processes.
	Isolate bool
	// ErrorCodecs carry the errors of further packages under Isolate. Others arrive as
	// *scheduler.RemoteError.
	ErrorCodecs []scheduler.ErrorCodec
	// Resolver finds the work of tasks under Isolate. nil looks it up in this process's jobs.
	Resolver executor.Resolver
	// Logger takes executors lost and tasks that ended their goroutine. nil discards.
	Logger *slog.Logger
}

// Validate returns what is wrong with the options, joined.
func (o Options) Validate() error {
	var errs []error
	if o.Executors < 0 {
		errs = append(errs, errors.New("local options: Executors is negative"))
	}
	if o.Slots < 0 {
		errs = append(errs, errors.New("local options: Slots is negative"))
	}
	if o.Memory < 0 {
		errs = append(errs, errors.New("local options: Memory is negative"))
	}
	kinds := map[string]bool{}
	for _, c := range o.ErrorCodecs {
		if c.Kind == "" || c.Encode == nil || c.Decode == nil || kinds[c.Kind] {
			errs = append(errs, fmt.Errorf("local options: error codec %q is incomplete or given twice", c.Kind))
		}
		kinds[c.Kind] = true
	}
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	s := fmt.Sprintf("executors %d, slots %d, isolate %t", o.Executors, o.Slots, o.Isolate)
	if o.Memory != 0 {
		s += fmt.Sprintf(", memory %d", o.Memory)
	}
	if o.Dir != "" {
		s += fmt.Sprintf(", dir %s", o.Dir)
	}
	return s
}

func (o Options) withDefaults() Options {
	if o.Executors == 0 {
		o.Executors = 1
	}
	if o.Slots == 0 {
		o.Slots = runtime.GOMAXPROCS(0)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
