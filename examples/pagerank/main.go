// Command pagerank computes the PageRank of the nodes of a graph.
//
//	go run ./examples/pagerank [-in PATH|GLOB] [-iterations 10] [-damping 0.85] [-checkpoint 5] [-partitions 4] [-top 10] [-check]
//
// The graph is an edge "a b" a line: a links to b. An edge that comes twice counts once; empty lines, and
// lines that begin with #, are skipped. The lines at the end are "node<TAB>rank", highest first, ties (to nine
// digits) by node. With -check the last line is "largest difference<TAB>D": how far the ranks are from those
// of a plain loop; above 1e-9 the program fails. Without -in it ranks a graph of eleven nodes.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
)

// elevenNodes is the graph that PageRank is mostly explained with. A links to nothing.
const elevenNodes = `B C
C B
D A
D B
E B
E D
E F
F B
F E
G B
G E
H B
H E
I B
I E
J E
K E
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pagerank:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := flag.NewFlagSet("pagerank", flag.ContinueOnError)
	in := flags.String("in", "", "file, folder or glob of edges \"a b\" (default: a graph of eleven nodes)")
	flags.IntVar(&o.iterations, "iterations", 10, "how often ranks are handed on")
	flags.Float64Var(&o.damping, "damping", 0.85, "the share of a rank that follows links")
	flags.IntVar(&o.checkpoint, "checkpoint", 5, "checkpoint the ranks every so many iterations, 0 for never")
	flags.IntVar(&o.partitions, "partitions", 4, "partitions of the link table and the ranks")
	top := flags.Int("top", 10, "how many nodes to show, 0 for all")
	checked := flags.Bool("check", false, "compare with a plain loop")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	case *top < 0:
		return fmt.Errorf("-top %d is negative", *top)
	}
	if err := o.validate(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pagerank-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := *in
	if path == "" {
		path = filepath.Join(dir, "graph")
		if err := os.WriteFile(path, []byte(elevenNodes), 0o644); err != nil {
			return err
		}
	}
	// Map stages that began, by the shuffle they write. Only the listener's goroutine touches the
	// map, until the engine is closed.
	shuffles := map[lineage.ShuffleID]int{}
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{
		CheckpointDir: filepath.Join(dir, "checkpoints"),
		SchedulerListeners: []scheduler.Listener{{StageSubmitted: func(s scheduler.StageSubmitted) {
			if s.Map {
				shuffles[s.Shuffle]++
			}
		}}},
	})
	if err != nil {
		return err
	}
	defer engine.Close()
	lines := rdd.TextFile(engine.RDDs(), path, o.partitions)
	result, err := pageRank(ctx, lines, o)
	if err != nil {
		return err
	}
	var edges []string
	if *checked {
		if edges, err = lines.Collect(ctx); err != nil {
			return err
		}
	}
	if err := engine.Close(); err != nil { // the listener has seen all now
		return err
	}
	ofLinks, ofRanks := 0, 0
	for id, n := range shuffles {
		if id.Node == result.links {
			ofLinks += n
		} else {
			ofRanks += n
		}
	}
	out := bufio.NewWriter(stdout)
	fmt.Fprintf(out, "%d nodes, %d iterations; shuffles: links %d, ranks %d; checkpoints %d\n",
		len(result.ranks), o.iterations, ofLinks, ofRanks, result.checkpoints)
	for _, r := range best(result.ranks, *top) {
		fmt.Fprintf(out, "%s\t%.9f\n", r.Key, r.Value)
	}
	if *checked {
		difference, wrong := check(result.ranks, plainRank(edges, o))
		fmt.Fprintf(out, "largest difference\t%.12f\n", difference)
		return errors.Join(out.Flush(), wrong)
	}
	return out.Flush()
}

// best returns the n highest ranks, all where n is 0. Ranks that should be equal differ in their last
// digits by the order they were added in, so those are not looked at.
func best(ranks []rank, n int) []rank {
	digits := func(r rank) float64 { return math.Round(r.Value * 1e9) }
	sorted := slices.Clone(ranks)
	slices.SortFunc(sorted, func(a, b rank) int {
		return cmp.Or(cmp.Compare(digits(b), digits(a)), cmp.Compare(a.Key, b.Key))
	})
	if n > 0 && n < len(sorted) {
		sorted = sorted[:n]
	}
	return sorted
}
