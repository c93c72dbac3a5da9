// Command grep shows the lines of a stream, or of files, that match a pattern.
//
//	go run ./examples/grep [-in PATH|GLOB|-] [-addr host:port] [-batch 1s] [-once] [-count] PATTERN
//
// PATTERN is a regular expression of package regexp. Streaming, the matches of each batch are printed in
// order as the batch is done, and the number of them at the end. With -once the files are read as one RDD
// job. With -count only the number of matching lines is printed. Without -in and -addr it reads the sources
// of the local Go installation.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/examples/internal/text"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, streamingcontext.SystemClock{})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "grep:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, clock streamingcontext.Clock) error {
	source := text.Source{Stdin: stdin}
	flags := flag.NewFlagSet("grep", flag.ContinueOnError)
	source.Flags(flags)
	batch := flags.Duration("batch", time.Second, "batch interval")
	once := flags.Bool("once", false, "read the files as one job")
	countOnly := flags.Bool("count", false, "print only the number of matching lines")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give one pattern")
	}
	match, err := matcher(flags.Arg(0))
	if err != nil {
		return err
	}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		return err
	}
	defer engine.Close()
	if *once {
		return grepOnce(ctx, engine, source, match, *countOnly, stdout)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts := streamingcontext.Options{App: "grep", Interval: *batch, Clock: clock, StopTimeout: -1}
	ssc, lines, err := source.Stream(engine, opts, cancel)
	if err != nil {
		return err
	}
	found := 0
	dstream.ForeachRDD(lines.Filter(match), func(ctx context.Context, r *rdd.RDD[string], _ dstream.Time) error {
		matches, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		found += len(matches)
		if *countOnly {
			return nil
		}
		return write(stdout, matches)
	})
	if err := ssc.Run(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, found)
	return err
}

func grepOnce(ctx context.Context, engine *streamingcontext.Engine, source text.Source, match func(string) bool, countOnly bool, stdout io.Writer) error {
	lines, err := source.RDD(engine.RDDs())
	if err != nil {
		return err
	}
	matches := lines.Filter(match)
	if countOnly {
		n, err := matches.Count(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, n)
		return err
	}
	all, err := matches.Collect(ctx)
	if err != nil {
		return err
	}
	return write(stdout, all)
}

// matcher returns the test of a pattern; one without special characters is searched for as it is.
func matcher(pattern string) (func(string) bool, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	if text, whole := re.LiteralPrefix(); whole {
		return func(line string) bool { return strings.Contains(line, text) }, nil
	}
	return re.MatchString, nil
}

func write(w io.Writer, lines []string) error {
	out := bufio.NewWriter(w)
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	return out.Flush()
}
