package receivedlog

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options configures a Log. The zero value works.
type Options struct {
	// SegmentBytes is at how many bytes a segment is full. It may be larger by the records of one group. 0 means 64 MiB.
	SegmentBytes int64
	// Roll is how old a segment with records becomes before the next append begins a new one. 0 means one minute.
	Roll time.Duration
	// MaxRecord is the most bytes of a block. 0 means 64 MiB.
	MaxRecord int
	// Now tells the time, for Roll. Nil means time.Now.
	Now func() time.Time
	// FS is where the folder is. Nil means the file system of this machine.
	FS FS
	// Logger is told what was cut off at Open and what went wrong. Nil discards it.
	Logger *slog.Logger
}

// MaxMeta is the most bytes of meta that a record has.
const MaxMeta = 64 << 10

// maxRecord is what MaxRecord may be at most, and what a reader believes.
const maxRecord = 1 << 30

// Validate returns an error for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	if o.SegmentBytes < 0 {
		errs = append(errs, fmt.Errorf("option SegmentBytes is %d: want 0 or more", o.SegmentBytes))
	}
	if o.Roll < 0 {
		errs = append(errs, fmt.Errorf("option Roll is %v: want 0 or more", o.Roll))
	}
	if o.MaxRecord < 0 || o.MaxRecord > maxRecord {
		errs = append(errs, fmt.Errorf("option MaxRecord is %d: want 0 to %d", o.MaxRecord, maxRecord))
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.filled()
	return fmt.Sprintf("segments of %d bytes or %v, blocks of at most %d bytes", o.SegmentBytes, o.Roll, o.MaxRecord)
}

func (o Options) filled() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.Roll == 0 {
		o.Roll = time.Minute
	}
	if o.MaxRecord == 0 {
		o.MaxRecord = 64 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FS == nil {
		o.FS = systemFS{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
