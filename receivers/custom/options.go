package custom

import (
	"errors"
	"fmt"
	"time"

	"github.com/leat-io/leat/receivers"
)

// Defaults of [Options].
const (
	DefaultPoll    = 250 * time.Millisecond
	DefaultMaxLine = 1 << 20
)

// readSize is the buffer between file and lines.
const readSize = 64 << 10

// Options configures [Tail]. The zero value works.
type Options struct {
	// FromEnd leaves out what is in the file at the first start.
	FromEnd bool

	// Poll is how often the file is looked at when there is nothing to read. Zero means 250 ms.
	Poll time.Duration

	// MaxLine is the longest line in bytes, without its terminator. Zero means 1 MiB. A longer line is reported and
	// left out.
	MaxLine int
}

// Validate returns a [*receivers.OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	if o.Poll < 0 {
		errs = append(errs, &receivers.OptionError{Option: "Poll", Value: o.Poll, Reason: "want zero for the default, or more"})
	}
	if o.MaxLine < 0 {
		errs = append(errs, &receivers.OptionError{Option: "MaxLine", Value: o.MaxLine, Reason: "want zero for the default, or more"})
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	from := "from the beginning"
	if o.FromEnd {
		from = "from the end"
	}
	o = o.withDefaults()
	return fmt.Sprintf("%s, look every %v, lines of at most %d bytes", from, o.Poll, o.MaxLine)
}

func (o Options) withDefaults() Options {
	if o.Poll == 0 {
		o.Poll = DefaultPoll
	}
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	return o
}
