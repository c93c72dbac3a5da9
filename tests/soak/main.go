package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	batches, cycles, every int
	seed                   uint64
	dir                    string
	cluster                clusterRun
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	var o options
	fs.IntVar(&o.batches, "batches", 100_000, "`number` of batches")
	fs.IntVar(&o.cycles, "cycles", 500, "`number` of starts and stops")
	fs.IntVar(&o.every, "every", 20, "a fault in one batch of so many; 0: none")
	fs.Uint64Var(&o.seed, "seed", 1, "`seed` of the faults")
	fs.StringVar(&o.dir, "dir", "", "`folder` for checkpoints and blocks; one of its own by default")
	c := &o.cluster
	fs.DurationVar(&c.lasting, "for", 0, "in place of the above: hurt a cluster of processes at random for so long")
	fs.IntVar(&c.nodes, "nodes", 3, "with -for, `number` of drivers, 3 to 5")
	fs.DurationVar(&c.report, "report", 10*time.Second, "with -for, how often its measures are printed")
	fs.DurationVar(&c.batch, "interval", 300*time.Millisecond, "with -for, batch interval")
	fs.IntVar(&c.lines, "lines", 2000, "with -for, lines of text a second")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if c.lasting < 0 || c.lasting > 0 && (c.lines <= 0 || c.nodes < 3 || c.nodes > 5) {
		return errors.New("-for must not be negative, and needs lines and 3 to 5 nodes")
	}
	if c.lasting > 0 {
		c.seed, c.dir = o.seed, o.dir
		return endureCluster(ctx, *c, out)
	}
	if o.batches < 0 || o.cycles < 0 || o.every < 0 {
		return errors.New("numbers must not be negative")
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "soak-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	if o.batches > 0 {
		began := time.Now()
		if err := endure(ctx, o, out); err != nil {
			return fmt.Errorf("seed %d: %w", o.seed, err)
		}
		took := time.Since(began)
		fmt.Fprintf(out, "%d batches in %v, %v each\n", o.batches, took.Round(time.Millisecond), (took / time.Duration(o.batches)).Round(time.Microsecond))
	}
	if o.cycles > 0 {
		began := time.Now()
		if err := restart(ctx, o); err != nil {
			return fmt.Errorf("starts and stops: %w", err)
		}
		fmt.Fprintf(out, "%d starts and stops in %v leave nothing\n", o.cycles, time.Since(began).Round(time.Millisecond))
	}
	return nil
}
