// Command wordcount counts words: of a stream, batch by batch, or of files, once.
//
//	go run ./examples/wordcount [-in PATH|GLOB|-] [-addr host:port] [-batch 1s] [-top 10] [-once]
//
// Without arguments it streams the sources of the local Go installation in batches, shows the most
// frequent words as they add up, and ends with the totals. With -once it counts -in as one RDD job and
// prints "word<TAB>count" lines, highest first, ties by word; -top 0 means all. Words are what lies
// between Unicode white space; nothing else is changed.
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
		fmt.Fprintln(os.Stderr, "wordcount:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, clock streamingcontext.Clock) error {
	source := text.Source{Stdin: stdin}
	flags := flag.NewFlagSet("wordcount", flag.ContinueOnError)
	source.Flags(flags)
	watch := page.Flag(flags)
	batch := flags.Duration("batch", time.Second, "batch interval")
	top := flags.Int("top", 10, "how many words to show, 0 for all")
	once := flags.Bool("once", false, "count the files as one job and print the counts")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if *top < 0 {
		return fmt.Errorf("-top %d is negative", *top)
	}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		return err
	}
	defer engine.Close()
	if *once {
		return countOnce(ctx, engine, source, *top, stdout)
	}
	return countStream(ctx, engine, source, *watch, *batch, *top, stdout, clock)
}

// countOnce counts the words of an RDD.
func countOnce(ctx context.Context, engine *streamingcontext.Engine, source text.Source, top int, stdout io.Writer) error {
	lines, err := source.RDD(engine.RDDs())
	if err != nil {
		return err
	}
	counts, err := rdd.CountByValue(ctx, rdd.FlatMap(lines, strings.Fields))
	if err != nil {
		return err
	}
	return table.Print(stdout, table.Top(counts, top))
}

// countStream counts the words of each batch and adds them up.
func countStream(ctx context.Context, engine *streamingcontext.Engine, source text.Source, watch string, batch time.Duration, top int, stdout io.Writer, clock streamingcontext.Clock) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	screen := table.New(stdout)
	totals := map[string]int64{}
	number := 0

	opts := streamingcontext.Options{App: "wordcount", Interval: batch, Clock: clock, StopTimeout: -1}
	ssc, lines, err := source.Stream(engine, opts, cancel)
	if err != nil {
		return err
	}
	stop, err := page.Show(ctx, watch, ssc)
	if err != nil {
		return err
	}
	defer stop()
	counts := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[table.Count], t dstream.Time) error {
		begin := clock.Now()
		words, err := r.Collect(ctx)
		if err != nil || len(words) == 0 {
			return err // nothing came: leave the last table where it is
		}
		b := table.Batch{Number: number, Time: int64(t), Title: "all so far:"}
		for _, w := range words {
			totals[w.Key] += w.Value
			b.Records += w.Value
		}
		number++
		b.Took = time.Duration(clock.Now()-begin) * time.Millisecond
		b.Delay = max(0, time.Duration(begin-int64(t))*time.Millisecond)
		b.Top = table.Top(list(totals), max(top, 1))
		return screen.Show(b)
	})
	if err := ssc.Run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "totals after %d batches: %d different words\n", number, len(totals))
	return table.Print(stdout, table.Top(list(totals), top))
}

func list(totals map[string]int64) []table.Count {
	counts := make([]table.Count, 0, len(totals))
	for w, n := range totals {
		counts = append(counts, table.Count{Key: w, Value: n})
	}
	return counts // the caller sorts: no two are alike, so map order does not show
}
