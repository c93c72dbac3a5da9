package streamingcontext

import (
	"errors"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/file"
)

// A FileOption is an option of TextFiles.
type FileOption func(*file.Options)

// IncludeExisting also reads files that were there before the stream was declared, if they are within
// Options.FileRemember of the first batch.
func IncludeExisting() FileOption { return func(o *file.Options) { o.IncludeExisting = true } }

// FileFilter says by its path whether a file counts. Without it, every name does that does not begin with
// a dot.
func FileFilter(accept func(path string) bool) FileOption {
	return func(o *file.Options) { o.Filter = accept }
}

// TextFiles declares the stream of the lines of the files that appear in the folders which dirGlob
// matches. Files must appear whole: written elsewhere in the same file system and moved in.
//
// Shape: the files of a batch in the order of their paths, each as by rdd.TextFiles; without files an RDD
// without partitions. Never absent. Sub-folders are not looked into.
// Time: batch t has the files modified in (max(start, t - FileRemember), t] that no batch had before; start is
// the clock's time of this call.
// Cost: every batch lists the folders. Move old files away.
// Errors: Start reports a pattern that is malformed. A folder that is missing or cannot be listed is logged, its
// files come in a later batch; a file that is gone when its batch is computed fails the batch.
// Source: Spark Streaming Programming Guide, "File Streams".
func (c *Context) TextFiles(dirGlob string, opts ...FileOption) *dstream.DStream[string] {
	o := file.Options{Start: c.opts.Clock.Now(), Interval: c.Interval(), Remember: c.opts.FileRemember}
	for _, opt := range opts {
		opt(&o)
	}
	selector, err := file.NewSelector(dirGlob, o)
	if err != nil {
		c.refuse("textFiles", err)
		return dstream.NewInput[string](c.graph, "textFiles", "File stream", noInput[string]{})
	}
	return dstream.NewInput[string](c.graph, "textFiles", "File stream", &textFiles{c: c, selector: selector})
}

// textFiles is the input of TextFiles. The graph calls it one call at a time.
type textFiles struct {
	c        *Context
	selector *file.Selector
}

func (f *textFiles) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	before := time.Now()
	files, warnings := f.selector.Select(int64(t))
	if err := errors.Join(warnings...); err != nil {
		f.c.opts.Logger.Warn("files of a batch are left for later", "batch", int64(t), "err", err)
	}
	if took := time.Since(before); took > f.c.Interval() {
		f.c.opts.Logger.Warn("listing files takes longer than the batch interval", "batch", int64(t), "took", took)
	}
	if len(files) == 0 {
		return rdd.Empty[string](c), nil
	}
	return rdd.TextFiles(c, paths(files)), nil
}

// Report returns the paths of the batch's files; their records are not counted.
func (f *textFiles) Report(t dstream.Time) (records int64, description string, ok bool) {
	files, _ := f.selector.Select(int64(t)) // remembered by now
	return 0, strings.Join(paths(files), "\n"), true
}

// Forget tells the selector which batch was completed; it goes by its own remember duration.
func (f *textFiles) Forget(upTo dstream.Time) {
	f.selector.Forget(int64(upTo) + f.c.Interval().Milliseconds())
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
