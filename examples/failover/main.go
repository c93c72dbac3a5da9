// Command failover shows that a streaming program outlives its driver.
//
//	go run ./examples/failover [-nodes 3] [-kills 5] [-mode kill|pause|partition|transfer] [-batch 200ms]
//
// It starts driver processes that keep their decisions in a Raft group, feeds them generated text at half the rate that they can
// count, and hurts whoever leads, again and again: with SIGKILL, by stopping it for a while, by cutting its network, or by asking it to
// hand over. For each it prints how long it took to the next committed batch. In the end the words in the sink must be those of the text,
// each once, and it exits with 1 if they are not. The last line is
//
//	exact<TAB>true|false<TAB>kills<TAB>p50_ms<TAB>p99_ms<TAB>max_ms
//
// Other modes and flags make a campaign of it; README.md has them.
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
	// Not given back before the end: a signal that comes while the process exits must not look like a bad end.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := demonstrate
	if len(os.Args) > 1 && os.Args[1] == "node" {
		run = runNode
	}
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	nodes, kills    int
	mode, at        string
	length          time.Duration // of a pause or a cut, at least
	batch           time.Duration
	stall           time.Duration // how long a disk may not answer; 0: the default
	lines           int           // a second; 0: half of what can be counted
	seed            int64
	grow, tls, bare bool
	netns           bool
	lasting         time.Duration // above 0: faults at random for so long
	sample          time.Duration // how often measures are printed meanwhile
	verbose         bool
	dir             string
}

// Where -at hurts the leader.
const (
	anywhere    = "anywhere"
	rollForward = "rollforward"
)

func (s *settings) parse(args []string) error {
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	flags.IntVar(&s.nodes, "nodes", 3, "driver processes")
	flags.IntVar(&s.kills, "kills", 5, "how often the leader is hurt")
	flags.StringVar(&s.mode, "mode", "kill", "what is done to it: "+modes())
	flags.DurationVar(&s.batch, "batch", 200*time.Millisecond, "batch interval")
	flags.StringVar(&s.at, "at", anywhere, "when: "+anywhere+", or "+rollForward+": while it makes a batch visible")
	flags.DurationVar(&s.length, "for", 0, "how long a node is paused or cut off; 0 means until another leads")
	flags.DurationVar(&s.stall, "stall", 0, "how long the disk of a node may not answer; 0 means the default")
	flags.BoolVar(&s.grow, "grow", false, "begin with one node, grow while batches are made, and shrink in the end")
	flags.BoolVar(&s.tls, "tls", false, "connections with certificates of an authority that is made for the run")
	flags.BoolVar(&s.netns, "netns", false, "each node on a host of its own, a Linux network namespace, with certificates; needs root and the command ip")
	flags.BoolVar(&s.bare, "bare", false, "first kill leaders of a group without an application, for comparison")
	flags.IntVar(&s.lines, "lines", 0, "lines of text a second; 0 means half of what can be counted")
	flags.Int64Var(&s.seed, "seed", 1, "of the text and of what is done when")
	flags.DurationVar(&s.lasting, "lasting", 0, "in place of -kills: faults of all modes at random for so long, while all is checked")
	flags.DurationVar(&s.sample, "sample", 5*time.Second, "with -lasting, how often a line of measures is printed")
	flags.BoolVar(&s.verbose, "v", false, "print what the nodes log")
	flags.StringVar(&s.dir, "dir", "", "folder for everything, which stays; empty means a temporary one, which stays after a failure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected %q", flags.Arg(0))
	}
	if err := s.check(given); err != nil {
		return err
	}
	s.tls = s.tls || s.netns // they are not on loopback
	if s.lasting > 0 {
		s.mode = mixed
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
	left := false
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "failover-"); err != nil {
			return err
		}
		defer func() {
			if !left { // else it is looked at
				err = errors.Join(err, os.RemoveAll(s.dir))
			}
		}()
	}
	if s.bare {
		if err := compareWithBare(ctx, stdout, s); err != nil {
			return err
		}
	}
	c, err := startCluster(ctx, s)
	if c == nil {
		return err
	}
	defer func() {
		closed := c.close()
		if err != nil && ctx.Err() == nil {
			c.leave(stdout)
			left = true
		}
		err = errors.Join(err, closed)
	}()
	if err != nil {
		return err
	}
	c.stdout = stdout
	if c.lines == 0 {
		if c.lines, err = c.calibrate(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%d nodes, %d lines a second, batches of %v\n", s.nodes, c.lines, s.batch)
	times, err := c.campaign(ctx, stdout)
	if err != nil {
		return err
	}
	exact := true
	if err := c.check(ctx, stdout); err != nil {
		exact = false
		fmt.Fprintln(stdout, "the sink differs from the text:", err)
	}
	all := times.print(stdout)
	fmt.Fprintf(stdout, "exact\t%t\t%d\t%d\t%d\t%d\n", exact, len(all), quantile(all, 50), quantile(all, 99), quantile(all, 100))
	if !exact {
		return errors.New("the answer is wrong")
	}
	return nil
}
