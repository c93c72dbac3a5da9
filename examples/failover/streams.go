package main

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// windowBatches is how many batch intervals the window has, and checkpointed after how many state is written.
const (
	windowBatches = 5
	checkpointed  = 10
)

// outputs are what declare writes.
var outputs = []string{"counts", "totals", "window"}

// declare declares the streams: the counts of each batch, running totals, and the counts of the last batches, which are made from those
// of the batch before with a function and its inverse.
func declare(ssc *streamingcontext.Context, dir string, batch time.Duration, build int, slow slow) error {
	out, row := filepath.Join(dir, "out"), rowOf(build)
	lines := ssc.TextFiles(filepath.Join(dir, "in"), streamingcontext.IncludeExisting())
	counts := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
	dstream.SaveTo(dstream.Map(counts, row), "counts", files.Text(out))

	totals := dstream.UpdateStateByKey(counts, totalOf(build), dstream.TouchedOnly())
	totals.Named(nameOfTotals(build)).UID("totals")
	dstream.SaveTo(dstream.Map(totals, row), "totals", slow.sink(files.Text(out)))

	add := func(a, b int64) int64 { return a + b }
	subtract := func(a, b int64) int64 { return a - b }
	positive := dstream.KeepWindowed(func(p rdd.Pair[string, int64]) bool { return p.Value > 0 })
	window := dstream.ReduceByKeyAndWindow(counts, add, subtract, time.Duration(windowOf(build))*batch, 0, positive)
	dstream.SaveTo(dstream.Map(window, row), "window", files.Text(out))
	return errors.Join(totals.Checkpoint(checkpointed*batch), window.Checkpoint(checkpointed*batch))
}

// row is a count as it is written.
func row(p rdd.Pair[string, int64]) string { return p.Key + "\t" + strconv.FormatInt(p.Value, 10) }

// slow says how long a commit stops in the middle, so that something can happen to the node there.
type slow struct {
	delay time.Duration // 0: not at all
	say   *sayer
}

// sink returns a sink whose commits are slow.
func (s slow) sink(to sink.Sink[string]) sink.Sink[string] {
	if s.delay == 0 {
		return to
	}
	return slowSink{to, s}
}

type slowSink struct {
	sink.Sink[string]
	slow slow
}

// Commit stops before every other batch is visible, and when the others are, before the driver knows.
func (s slowSink) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	stop := func() {
		s.slow.say.line("committing\t%d\t%d", b.ID, b.Epoch)
		_ = pauseFor(ctx, s.slow.delay) // what comes next is told of the end of ctx as well
	}
	if b.ID%2 == 0 {
		stop()
		return s.Sink.Commit(ctx, b, staged)
	}
	err := s.Sink.Commit(ctx, b, staged)
	if err == nil {
		stop()
	}
	return err
}
