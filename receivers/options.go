package receivers

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Defaults of [Options] and [GeneratorOptions].
const (
	DefaultBlockInterval   = 200 * time.Millisecond
	DefaultBlockQueue      = 10
	DefaultMaxBlockRecords = 1 << 18
	DefaultRetryDelay      = time.Second
	DefaultRestartDelay    = 2 * time.Second
	DefaultFlushTimeout    = 10 * time.Second
)

// GeneratorOptions configures a [Generator]. The zero value works.
type GeneratorOptions struct {
	// BlockInterval is the time a block is gathered for, in whole milliseconds. Zero means 200 ms. A batch gets about
	// batch interval / block interval blocks, hence partitions, from each receiver.
	BlockInterval time.Duration

	// BlockQueue is the number of finished blocks that may wait for the block store. Zero means 10.
	BlockQueue int

	// MaxBlockRecords is the number of records at which a block is full and Store waits for the end of the block
	// interval. Zero means 262,144. It bounds memory; MaxRate bounds the rate.
	MaxBlockRecords int

	// MaxRate is the greatest number of records per second. Zero or less means no limit.
	MaxRate int64

	// InitialRate is the rate until the first SetRate, at most MaxRate. Zero or less means MaxRate.
	InitialRate int64

	// RetryDelay is the wait before a block that could not be stored is tried again. Zero means 1 s.
	RetryDelay time.Duration

	// LastID is the greatest block id already used for the stream; new blocks get greater ones. A caller that keeps
	// blocks across a restart passes it, so that no clock can make two blocks share an id.
	LastID BlockID

	// Clock measures block interval, rate and delays. Nil means [SystemClock].
	Clock Clock

	// Listener is told about blocks. The zero value tells nobody.
	Listener BlockListener

	// Logger gets a warning for each block that is tried again. Nil discards.
	Logger *slog.Logger
}

// Validate returns an [*OptionError] for each option that cannot be used, joined.
func (o GeneratorOptions) Validate() error {
	return errors.Join(
		millis("BlockInterval", o.BlockInterval),
		millis("RetryDelay", o.RetryDelay),
		positive("BlockQueue", o.BlockQueue),
		positive("MaxBlockRecords", o.MaxBlockRecords),
	)
}

// String returns the options in effect, defaults filled in.
func (o GeneratorOptions) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("block interval %v, queue %d blocks, at most %d records a block, max rate %d/s, initial rate %d/s, retry after %v",
		o.BlockInterval, o.BlockQueue, o.MaxBlockRecords, max(o.MaxRate, 0), max(o.InitialRate, 0), o.RetryDelay)
}

func (o GeneratorOptions) withDefaults() GeneratorOptions {
	o.BlockInterval = orDefault(o.BlockInterval, DefaultBlockInterval)
	o.BlockQueue = orDefault(o.BlockQueue, DefaultBlockQueue)
	o.MaxBlockRecords = orDefault(o.MaxBlockRecords, DefaultMaxBlockRecords)
	o.RetryDelay = orDefault(o.RetryDelay, DefaultRetryDelay)
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Options configures a [Supervisor]. The zero value works.
type Options struct {
	// Generator configures the block generator. Its Clock and Logger, where nil, are those below.
	Generator GeneratorOptions

	// RestartDelay is the wait between the end of a receiver and its next start, in whole milliseconds. Zero means 2 s.
	RestartDelay time.Duration

	// FlushTimeout is how long the accepted records may take to be stored once the receiver has stopped. Zero means
	// 10 s, less than zero means as long as it takes.
	FlushTimeout time.Duration

	// Clock measures the restart delay. Nil means [SystemClock].
	Clock Clock

	// Listener is told about starts, ends and errors. The zero value tells nobody.
	Listener Listener

	// Logger gets a warning for each restart and reported error. Nil discards.
	Logger *slog.Logger
}

// Validate returns an [*OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	return errors.Join(o.Generator.Validate(), millis("RestartDelay", o.RestartDelay))
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("%v, start again after %v, flush within %v", o.Generator, o.RestartDelay, o.FlushTimeout)
}

func (o Options) withDefaults() Options {
	o.RestartDelay = orDefault(o.RestartDelay, DefaultRestartDelay)
	o.FlushTimeout = orDefault(o.FlushTimeout, DefaultFlushTimeout)
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Generator.Clock == nil {
		o.Generator.Clock = o.Clock
	}
	if o.Generator.Logger == nil {
		o.Generator.Logger = o.Logger
	}
	o.Generator = o.Generator.withDefaults()
	return o
}

func orDefault[V comparable](v, def V) V {
	var zero V
	if v == zero {
		return def
	}
	return v
}

func millis(option string, d time.Duration) error {
	if d < 0 || d%time.Millisecond != 0 {
		return &OptionError{Option: option, Value: d, Reason: "want whole milliseconds, not negative"}
	}
	return nil
}

func positive(option string, n int) error {
	if n < 0 {
		return &OptionError{Option: option, Value: n, Reason: "want zero for the default, or more"}
	}
	return nil
}
