// Command failover shows that a streaming program outlives its driver.
//
//	go run ./examples/failover [-nodes 3] [-kills 5] [-mode kill|pause|partition|transfer] [-batch 200ms]
//
// It starts driver processes that keep their decisions in a Raft group, feeds them generated text at half the rate that one of them can
// count, and hurts whoever leads, again and again: with SIGKILL, by stopping it for a while, by cutting its network, or by asking it to
// hand over. For each it prints how long it took to the next committed batch. In the end the words in the sink must be those of the text,
// each once, and it exits with 1 if they are not. The last line is
//
//	exact<TAB>true|false<TAB>kills<TAB>p50_ms<TAB>p99_ms<TAB>max_ms
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := demonstrate
	if len(os.Args) > 1 && os.Args[1] == "node" {
		run = runNode
	}
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	nodes, kills int
	mode         string
	batch        time.Duration
	lines        int // a second; 0: half of what one node can count
	seed         int64
	verbose      bool
	dir          string
}

func (s *settings) parse(args []string) error {
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	flags.IntVar(&s.nodes, "nodes", 3, "driver processes")
	flags.IntVar(&s.kills, "kills", 5, "how often the leader is hurt")
	flags.StringVar(&s.mode, "mode", "kill", "what is done to it: kill, pause, partition or transfer")
	flags.DurationVar(&s.batch, "batch", 200*time.Millisecond, "batch interval")
	flags.IntVar(&s.lines, "lines", 0, "lines of text a second; 0 means half of what one node can count")
	flags.Int64Var(&s.seed, "seed", 1, "of the text")
	flags.BoolVar(&s.verbose, "v", false, "print what the nodes log")
	flags.StringVar(&s.dir, "dir", "", "folder for everything, which stays; empty means a temporary one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected %q", flags.Arg(0))
	case s.nodes < 1 || s.nodes > 7:
		return fmt.Errorf("-nodes %d: 1 to 7 are possible", s.nodes)
	case s.kills < 0 || s.lines < 0 || s.batch < 10*time.Millisecond:
		return errors.New("-kills and -lines must not be negative, -batch at least 10ms")
	case harms[s.mode] == nil:
		return fmt.Errorf("-mode %q: kill, pause, partition and transfer are possible", s.mode)
	case s.nodes == 1 && s.mode != "kill":
		return fmt.Errorf("-mode %s needs a node that takes over", s.mode)
	}
	return nil
}

// demonstrate starts the nodes, hurts them, and checks what they have written.
func demonstrate(ctx context.Context, args []string, stdout io.Writer) (err error) {
	var s settings
	if err := s.parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "failover-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	}
	c, err := startCluster(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if s.lines == 0 {
		if s.lines, err = c.calibrate(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%d nodes, %d lines a second, batches of %v\n", s.nodes, s.lines, s.batch)
	times, err := c.campaign(ctx, stdout, s)
	if err != nil {
		return err
	}
	exact := true
	if err := c.check(ctx); err != nil {
		exact = false
		fmt.Fprintln(stdout, "the sink differs from the text:", err)
	}
	slices.Sort(times)
	fmt.Fprintf(stdout, "exact\t%t\t%d\t%d\t%d\t%d\n", exact, len(times), quantile(times, 50), quantile(times, 99), quantile(times, 100))
	if !exact {
		return errors.New("the answer is wrong")
	}
	return nil
}

// quantile returns a quantile of sorted times in milliseconds, 0 if there are none.
func quantile(sorted []time.Duration, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1].Milliseconds()
}
