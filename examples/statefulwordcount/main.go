// Command statefulwordcount keeps running totals of the words of a stream as state by key.
//
//	go run ./examples/statefulwordcount [-in PATH|GLOB|-] [-addr host:port] [-batch 1s] [-top 10]
//
// Every batch updates the totals of the words it holds, and of no others; the table shows the highest. It
// ends with the totals. Without -in and -addr it streams the sources of the local Go installation.
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
		fmt.Fprintln(os.Stderr, "statefulwordcount:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, clock streamingcontext.Clock) (err error) {
	source := text.Source{Stdin: stdin}
	flags := flag.NewFlagSet("statefulwordcount", flag.ContinueOnError)
	source.Flags(flags)
	batch := flags.Duration("batch", time.Second, "batch interval")
	top := flags.Int("top", 10, "how many words to show, 0 for all")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if *top < 0 {
		return fmt.Errorf("-top %d is negative", *top)
	}
	// The state of a batch derives from the one before; a checkpoint now and then keeps that chain short.
	checkpoints, err := os.MkdirTemp("", "statefulwordcount-")
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

	opts := streamingcontext.Options{App: "statefulwordcount", Interval: *batch, Clock: clock, StopTimeout: -1}
	ssc, lines, err := source.Stream(engine, opts, cancel)
	if err != nil {
		return err
	}
	ones := dstream.MapToPair(dstream.FlatMap(lines, strings.Fields), func(w string) (string, int64) { return w, 1 })
	batchCounts := dstream.ReduceByKey(ones, func(a, b int64) int64 { return a + b })
	totals := dstream.UpdateStateByKey(batchCounts, addUp, dstream.TouchedOnly())
	screen, number := table.New(stdout), 0
	var last []table.Count
	dstream.ForeachRDD(totals, func(ctx context.Context, r *rdd.RDD[table.Count], t dstream.Time) error {
		begin := clock.Now()
		words, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		b := table.Batch{Number: number, Time: int64(t), Title: "totals:"}
		for _, w := range words {
			b.Records += w.Value
		}
		number++
		b.Took = time.Duration(clock.Now()-begin) * time.Millisecond
		b.Delay = max(0, time.Duration(begin-int64(t))*time.Millisecond)
		last = words
		b.Top = table.Top(words, max(*top, 1))
		return screen.Show(b)
	})
	if err := ssc.Run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "totals after %d batches: %d different words\n", number, len(last))
	return table.Print(stdout, table.Top(last, *top))
}

// addUp adds a word's new counts to its total.
func addUp(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
	total := old.Value
	for _, n := range counts {
		total += n
	}
	return rdd.Option[int64]{Value: total, OK: true}
}
