// Command logmining asks a log several questions and shows what keeping its errors in memory saves.
//
//	go run ./examples/logmining [-in PATH|GLOB] [-component hdfs] [-partitions 8] [-show 5]
//
// The log has lines of fields with tabs between them: level, component, node, time, message. Without -in it
// makes up a log of a day. The questions are put to the errors twice: once computed anew for each, once
// cached. The last line is "lines read<TAB>without the cache<TAB>with it".
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
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "logmining:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("logmining", flag.ContinueOnError)
	in := flags.String("in", "", "log file, folder or glob (default: a made-up log of a day)")
	component := flags.String("component", "hdfs", "the component that is asked about")
	partitions := flags.Int("partitions", 8, "into how many partitions the log is cut at least")
	show := flags.Int("show", 5, "how many times to show, 0 for all")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	case *show < 0:
		return fmt.Errorf("-show %d is negative", *show)
	}
	path := *in
	if path == "" {
		dir, err := os.MkdirTemp("", "logmining-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "log")
		if err := os.WriteFile(path, madeUpLog(), 0o644); err != nil {
			return err
		}
	}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		return err
	}
	defer engine.Close()

	// What is counted is the lines that the filter sees: those of partitions that had to be computed.
	var read atomic.Int64
	lines := rdd.TextFile(engine.RDDs(), path, *partitions)
	isError := func(line string) bool {
		read.Add(1)
		level, _, _ := strings.Cut(line, "\t")
		return level == "ERROR"
	}
	without, err := ask(ctx, lines.Filter(isError), *component, &read)
	if err != nil {
		return err
	}
	with, err := ask(ctx, lines.Filter(isError).Cache(), *component, &read)
	if err != nil {
		return err
	}
	return report(stdout, without, with, *show)
}

// report prints the answers, which must be the same both times, and what each cost.
func report(w io.Writer, without, with []answer, show int) error {
	out := bufio.NewWriter(w)
	var before, after int64
	for i, a := range without {
		if a.found != with[i].found || !slices.Equal(a.rows, with[i].rows) {
			return fmt.Errorf("%s: another answer with the cache", a.question)
		}
		rows := a.rows
		if a.long && show > 0 && show < len(rows) {
			rows = rows[:show]
		}
		fmt.Fprintf(out, "%s: %d\n", a.question, a.found)
		for _, row := range rows {
			fmt.Fprintln(out, row)
		}
		before, after = before+a.read, after+with[i].read
	}
	fmt.Fprintln(out, "lines read without the cache and with it:")
	for i, a := range without {
		fmt.Fprintf(out, "%s\t%d\t%d\n", a.question, a.read, with[i].read)
	}
	fmt.Fprintf(out, "lines read\t%d\t%d\n", before, after)
	return out.Flush()
}
