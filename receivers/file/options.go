package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/leat-io/leat/receivers"
)

// DefaultRemember is the remember duration of the zero [Options].
const DefaultRemember = time.Minute

// Options configures a [Selector]. The zero value works.
type Options struct {
	// Start is the time in milliseconds since the epoch at which the stream was made. Only files modified after it are
	// selected, unless IncludeExisting is set.
	Start int64

	// IncludeExisting also selects files modified at Start or before, if they are within the remember duration of the
	// first batch that sees them.
	IncludeExisting bool

	// Interval is the batch interval. The remember duration is rounded up to a whole number of intervals. Zero leaves
	// it as it is.
	Interval time.Duration

	// Remember is how long after its modification time a file may become visible. Zero means one minute.
	Remember time.Duration

	// Limit bounds the files of every batch.
	Limit Limit

	// Filter says by its path whether a file counts. Nil accepts every name that does not begin with a dot.
	Filter func(path string) bool

	// FS is the file system. Nil means that of the operating system.
	FS FS
}

// Validate returns a [*receivers.OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	if o.Interval < 0 || o.Interval%time.Millisecond != 0 {
		errs = append(errs, &receivers.OptionError{Option: "Interval", Value: o.Interval, Reason: "want whole milliseconds, not negative"})
	}
	if o.Remember < 0 || o.Remember%time.Millisecond != 0 {
		errs = append(errs, &receivers.OptionError{Option: "Remember", Value: o.Remember, Reason: "want whole milliseconds, not negative"})
	}
	if o.Limit.Files < 0 {
		errs = append(errs, &receivers.OptionError{Option: "Limit.Files", Value: o.Limit.Files, Reason: "want zero or more"})
	}
	if o.Limit.Bytes < 0 {
		errs = append(errs, &receivers.OptionError{Option: "Limit.Bytes", Value: o.Limit.Bytes, Reason: "want zero or more"})
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	s := fmt.Sprintf("files after %d, remembered for %v", o.threshold(), o.remember())
	if o.Limit != (Limit{}) {
		s += fmt.Sprintf(", at most %d files and %d bytes a batch (0: any)", o.Limit.Files, o.Limit.Bytes)
	}
	return s
}

// threshold is the modification time that every file must be above.
func (o Options) threshold() int64 {
	if o.IncludeExisting {
		return 0
	}
	return o.Start
}

// remember is the remember duration in effect.
func (o Options) remember() time.Duration {
	d := o.Remember
	if d == 0 {
		d = DefaultRemember
	}
	if o.Interval > 0 {
		d = (d + o.Interval - 1) / o.Interval * o.Interval
	}
	return d
}

func visible(path string) bool { return !strings.HasPrefix(filepath.Base(path), ".") }
