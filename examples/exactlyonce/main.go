// Command exactlyonce counts the words of files that appear in a folder, and writes each batch's counts once, whatever is
// killed when.
//
//	go run ./examples/exactlyonce -in DIR -out DIR -checkpoint DIR [-batch 200ms] [-until-idle 3s] [-isolate] [-windows]
//
// Every batch writes one row, "word<TAB>count", for each word of the files that came in it, to a sink of files below -out
// that `leat sink read` reads. A running total of each word is kept as state. Kill it at any time and start it again with
// the same line: it goes on with the same batch. On exit it prints "total", the number of words so far and the number of
// batches, with tabs between.
//
// Files must appear whole: write them elsewhere in the same file system and move them in.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "exactlyonce:", err)
		os.Exit(1)
	}
}

// remember is how long a file that was read is known by its name: longer than any run.
const remember = 10 * 365 * 24 * time.Hour

// settings are what the command line says.
type settings struct {
	in, out, checkpoint string
	batch, untilIdle    time.Duration
	isolate, windows    bool
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("exactlyonce", flag.ContinueOnError)
	flags.StringVar(&s.in, "in", "", "folder in which files of text appear")
	flags.StringVar(&s.out, "out", "", "folder for the counts")
	flags.StringVar(&s.checkpoint, "checkpoint", "", "folder that the program goes on from")
	flags.DurationVar(&s.batch, "batch", 200*time.Millisecond, "batch interval")
	flags.DurationVar(&s.untilIdle, "until-idle", 0, "stop when no file has come for so long; 0 means never")
	flags.BoolVar(&s.isolate, "isolate", false, "encode what goes between tasks, as between processes")
	flags.BoolVar(&s.windows, "windows", false, "also keep a window with an inverse function and a mapWithState")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if s.in == "" || s.out == "" || s.checkpoint == "" {
		return errors.New("-in, -out and -checkpoint are needed")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newProgress(s.untilIdle, stop)
	ssc, err := streamingcontext.GetOrCreate(s.checkpoint, streamingcontext.Options{
		App: "exactlyonce", Interval: s.batch, FileRemember: remember, StopTimeout: -1,
		EngineOptions: streamingcontext.EngineOptions{Isolate: s.isolate},
		Listeners:     []streamingcontext.Listener{p.listener()},
	}, func(ssc *streamingcontext.Context) error { return s.declare(ssc, p) })
	if err != nil {
		return err
	}
	if err := ssc.Run(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "total\t%d\t%d\n", p.words.Load(), p.batches.Load())
	return err
}

// checkpointed is after how many batches state is written. Little is written then, and a restart has as few to make again.
const checkpointed = 10

// declare declares the streams.
func (s settings) declare(ssc *streamingcontext.Context, p *progress) error {
	lines := ssc.TextFiles(s.in, streamingcontext.IncludeExisting())
	counts := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
	dstream.SaveTo(dstream.Map(counts, row), "counts", files.Text(s.out))

	totals := dstream.UpdateStateByKey(counts, addUp, dstream.TouchedOnly())
	if err := totals.Checkpoint(checkpointed * s.batch); err != nil {
		return err
	}
	sum := dstream.Map(totals, func(p rdd.Pair[string, int64]) int64 { return p.Value })
	dstream.ForeachRDD(sum, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
		words, err := rdd.Sum(ctx, r)
		if err == nil {
			p.words.Store(words)
		}
		return err
	})
	if s.windows {
		return s.declareWindows(counts)
	}
	return nil
}

// declareWindows declares streams whose answers are written as well: the counts of the last five batches, and how often each word
// has been in a batch.
func (s settings) declareWindows(counts *dstream.DStream[rdd.Pair[string, int64]]) error {
	add := func(a, b int64) int64 { return a + b }
	subtract := func(a, b int64) int64 { return a - b }
	window := dstream.ReduceByKeyAndWindow(counts, add, subtract, 5*s.batch, 0)
	positive := window.Filter(func(p rdd.Pair[string, int64]) bool { return p.Value > 0 })
	dstream.SaveTo(dstream.Map(positive, row), "window", files.Text(s.out))

	seen := dstream.MapWithState(counts, dstream.NewTryStateSpec(func(_ dstream.Time, word string, _ rdd.Option[int64], times *dstream.State[int64]) (rdd.Option[rdd.Pair[string, int64]], error) {
		n := times.Option().Value + 1
		out := rdd.Pair[string, int64]{Key: word, Value: n}
		return rdd.Option[rdd.Pair[string, int64]]{Value: out, OK: true}, times.Update(n)
	}))
	dstream.SaveTo(dstream.Map(seen.DStream, row), "seen", files.Text(s.out))
	return errors.Join(window.Checkpoint(checkpointed*s.batch), seen.DStream.Checkpoint(checkpointed*s.batch))
}

// row is a count as it is written.
func row(p rdd.Pair[string, int64]) string { return p.Key + "\t" + strconv.FormatInt(p.Value, 10) }

// addUp adds a word's new counts to its total.
func addUp(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
	total := old.Value
	for _, n := range counts {
		total += n
	}
	return rdd.Option[int64]{Value: total, OK: true}
}
