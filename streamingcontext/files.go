package streamingcontext

import (
	"errors"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/file"
)

// A FileOption is an option of TextFiles, BinaryRecords and FileStream.
type FileOption func(*file.Options)

// IncludeExisting also reads files that were there before the stream was declared, if they are within
// Options.FileRemember of the first batch.
func IncludeExisting() FileOption { return func(o *file.Options) { o.IncludeExisting = true } }

// FileFilter says by its path whether a file counts. Without it, every name does that does not begin with
// a dot.
func FileFilter(accept func(path string) bool) FileOption {
	return func(o *file.Options) { o.Filter = accept }
}

// MaxFilesPerBatch bounds how many files a batch takes, the oldest first. The others wait for later batches and are
// counted in dstream.InputInfo. Spark calls it maxFilesPerTrigger.
func MaxFilesPerBatch(n int) FileOption { return func(o *file.Options) { o.Limit.Files = n } }

// MaxBytesPerBatch bounds how large the files of a batch are together, the oldest first; a batch takes one file however large
// it is. Spark calls it maxBytesPerTrigger.
func MaxBytesPerBatch(n int64) FileOption { return func(o *file.Options) { o.Limit.Bytes = n } }

// fromFiles declares an input of the files that appear in folders, which read makes an RDD of.
func fromFiles[T any](c *Context, op, dirGlob string, opts []FileOption, read func(*rdd.Context, []file.File) *rdd.RDD[T]) *dstream.DStream[T] {
	o := file.Options{Start: c.opts.Clock.Now(), Interval: c.Interval(), Remember: c.opts.FileRemember}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	selector, err := file.NewSelector(dirGlob, o)
	if err != nil {
		c.refuse(op, err)
		return dstream.NewInput[T](c.graph, op, "File stream", noInput[T]{})
	}
	return dstream.NewInput[T](c.graph, op, "File stream", &files[T]{c: c, selector: selector, read: read, rate: newFileRate(c.opts.Backpressure)})
}

// files is the input of a file stream. The graph calls it one call at a time.
type files[T any] struct {
	c        *Context
	selector *file.Selector
	read     func(*rdd.Context, []file.File) *rdd.RDD[T] // of one file at least
	rate     *fileRate                                   // nil: none
}

func (f *files[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	before := time.Now()
	span := f.c.span.Load()
	if span > 1 {
		f.selector.Away() // nobody looked for the batches that were left out
	}
	var limit file.Limit
	if f.rate != nil {
		limit.Bytes = f.rate.limit(span * f.c.Interval().Milliseconds())
	}
	found, warnings := f.selector.SelectAtMost(int64(t), limit)
	if err := errors.Join(warnings...); err != nil {
		f.c.opts.Logger.Warn("files of a batch are left for later", "batch", int64(t), "err", err)
	}
	if took := time.Since(before); took > f.c.Interval() {
		f.c.opts.Logger.Warn("listing files takes longer than the batch interval", "batch", int64(t), "took", took)
	}
	if len(found) == 0 {
		return rdd.Empty[T](c), nil
	}
	r := f.read(c, found)
	if f.rate == nil {
		return r, nil
	}
	parts, err := r.NumPartitions()
	if err != nil {
		return r, nil // the batch's job says so
	}
	var bytes int64
	for _, file := range found {
		bytes += file.Size
	}
	return tallied(r, f.rate.open(t, bytes, parts)), nil
}

func (f *files[T]) rated() *fileRate { return f.rate }

// Hold leaves the files of batch t to a later one.
func (f *files[T]) Hold(t dstream.Time) { f.selector.Hold(int64(t)) }

// Lag returns how many files wait, and their bytes.
func (f *files[T]) Lag() (items, bytes int64) {
	n, bytes := f.selector.Waiting()
	return int64(n), bytes
}

// Report returns the paths of the batch's files. Their records are not known before they are read.
func (f *files[T]) Report(t dstream.Time) (records int64, description string, ok bool) {
	found, _ := f.selector.Select(int64(t)) // remembered by now
	return 0, strings.Join(paths(found), "\n"), true
}

// Forget tells the selector which batch was completed; it goes by its own remember duration.
func (f *files[T]) Forget(upTo dstream.Time) {
	f.selector.Forget(int64(upTo) + f.c.Interval().Milliseconds())
	if f.rate != nil {
		f.rate.forget(upTo)
	}
}

// Record returns the files of batch t: paths, sizes and times.
func (f *files[T]) Record(t dstream.Time) ([]byte, error) { return f.selector.Record(int64(t)) }

// Replay says that batch t had the files that are recorded. They are not looked at here: a batch that is not computed again
// may have lost them.
func (f *files[T]) Replay(t dstream.Time, recorded []byte) error {
	return f.selector.Replay(int64(t), recorded)
}

// Save returns what must be known after a restart to select no file twice and leave none out.
func (f *files[T]) Save() ([]byte, error) { return f.selector.State().Append(nil), nil }

// Load takes up what Save returned. Replay goes on from there.
func (f *files[T]) Load(saved []byte) error {
	state, err := file.DecodeState(saved)
	if err != nil {
		return err
	}
	f.selector.Restore(state)
	return nil
}

func paths(files []file.File) []string {
	p := make([]string, len(files))
	for i, f := range files {
		p[i] = f.Path
	}
	return p
}

// noInput stands in for an input that could not be made; Start refuses the graph.
type noInput[T any] struct{}

func (noInput[T]) RDD(*rdd.Context, dstream.Time) (*rdd.RDD[T], error) {
	return nil, errors.New("input was refused") // never called: such a graph does not start
}
