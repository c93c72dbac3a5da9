// Command topk finds the most frequent words of text files, in two ways.
//
//	go run ./examples/topk [-in PATH|GLOB] [-k 10]
//
// The words are counted once and the counts kept. Then the action Top takes the k highest, and so does an
// aggregate that holds no more than k counts of a partition; the two must agree. The lines at the end are
// "word<TAB>count", highest first, ties by word. Words are what lies between Unicode white space. Without
// -in it reads three short texts of its own.
package main

import (
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
	"syscall"

	"github.com/leat-io/leat/examples/internal/table"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "topk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("topk", flag.ContinueOnError)
	in := flags.String("in", "", "file, folder or glob (default: three short texts)")
	k := flags.Int("k", 10, "how many words")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	case *k < 1:
		return fmt.Errorf("-k %d is below 1", *k)
	}
	path := *in
	if path == "" {
		dir, err := os.MkdirTemp("", "topk-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for i, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(text), 0o644); err != nil {
				return err
			}
		}
		path = dir
	}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		return err
	}
	defer engine.Close()
	c := engine.RDDs()
	words := rdd.FlatMap(rdd.TextFile(c, path, c.Parallelism()), strings.Fields)
	counts := rdd.Counts(words).Cache()
	different, err := counts.Count(ctx)
	if err != nil {
		return err
	}
	top, err := topCounts(ctx, counts, *k)
	if err != nil {
		return err
	}
	bounded, err := boundedTop(ctx, counts, *k)
	if err != nil {
		return err
	}
	if !slices.Equal(top, bounded) {
		return fmt.Errorf("the two ways differ: %v, %v", top, bounded)
	}
	if _, err := fmt.Fprintf(stdout, "the top %d of %d different words\n", len(top), different); err != nil {
		return err
	}
	return table.Print(stdout, top)
}
