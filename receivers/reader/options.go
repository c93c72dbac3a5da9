package reader

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/receivers"
)

// DefaultMaxLine is the longest line of the zero [Options], in bytes.
const DefaultMaxLine = 64 << 20

// Options configures [Lines]. The zero value works.
type Options struct {
	// MaxLine is the longest line in bytes, without its terminator. Zero means 64 MiB. A longer line is reported and left
	// out.
	MaxLine int

	// Ended is called once, when the input has ended and all its lines are stored. It must not wait for the receiver.
	// Nil does nothing.
	Ended func()

	// Interrupt wakes a read that waits, by closing the input for instance. It is called when the context of Receive
	// ends, from a goroutine of its own. Nil: a deadline for reads wakes it where the input has one.
	Interrupt func()
}

// Validate returns a [*receivers.OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	if o.MaxLine < 0 {
		return errors.Join(&receivers.OptionError{Option: "MaxLine", Value: o.MaxLine, Reason: "want zero for the default, or more"})
	}
	return nil
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	return fmt.Sprintf("lines of at most %d bytes", o.withDefaults().MaxLine)
}

func (o Options) withDefaults() Options {
	if o.MaxLine == 0 {
		o.MaxLine = DefaultMaxLine
	}
	return o
}
