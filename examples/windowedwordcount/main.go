// Command windowedwordcount counts the words of a sliding window over a stream.
//
//	go run ./examples/windowedwordcount [-in PATH|GLOB|-] [-addr host:port] [-batch 1s] [-window 30s] [-slide 10s] [-top 10]
//
// Every slide it shows the most frequent words of the last window. The window is kept by what enters and
// leaves it: nothing is counted twice. Without -in and -addr it streams the sources of the local Go
// installation.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/examples/internal/page"
	"github.com/leat-io/leat/examples/internal/table"
	"github.com/leat-io/leat/examples/internal/text"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, streamingcontext.SystemClock{})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "windowedwordcount:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, clock streamingcontext.Clock) (err error) {
	source := text.Source{Stdin: stdin, Batches: 45} // longer than a window
	flags := flag.NewFlagSet("windowedwordcount", flag.ContinueOnError)
	source.Flags(flags)
	watch := page.Flag(flags)
	batch := flags.Duration("batch", time.Second, "batch interval")
	window := flags.Duration("window", 30*time.Second, "how far back a window reaches")
	slide := flags.Duration("slide", 10*time.Second, "how far apart windows are")
	top := flags.Int("top", 10, "how many words to show")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	// A window that is kept by what changes derives from the one before; a checkpoint now and then
	// keeps that chain short.
	checkpoints, err := os.MkdirTemp("", "windowedwordcount-")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(checkpoints); err == nil {
			err = e
		}
	}()
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{CheckpointDir: checkpoints})
	if err != nil {
		return err
	}
	defer engine.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	opts := streamingcontext.Options{App: "windowedwordcount", Interval: *batch, Clock: clock, StopTimeout: -1}
	ssc, lines, err := source.Stream(engine, opts, cancel)
	if err != nil {
		return err
	}
	stop, err := page.Show(ctx, *watch, ssc)
	if err != nil {
		return err
	}
	defer stop()
	ones := dstream.MapToPair(dstream.FlatMap(lines, strings.Fields), func(w string) (string, int64) { return w, 1 })
	counts := dstream.ReduceByKeyAndWindow(ones, add, subtract, *window, *slide,
		dstream.KeepWindowed(func(c table.Count) bool { return c.Value > 0 }))
	screen, number := table.New(stdout), 0
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[table.Count], t dstream.Time) error {
		begin := clock.Now()
		words, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		b := table.Batch{Number: number, Time: int64(t), Title: fmt.Sprintf("last %v:", *window)}
		for _, w := range words {
			b.Records += w.Value
		}
		number++
		b.Took = time.Duration(clock.Now()-begin) * time.Millisecond
		b.Delay = max(0, time.Duration(begin-int64(t))*time.Millisecond)
		b.Top = table.Top(words, max(*top, 1))
		return screen.Show(b)
	})
	return ssc.Run(ctx)
}

func add(a, b int64) int64      { return a + b }
func subtract(a, b int64) int64 { return a - b }
