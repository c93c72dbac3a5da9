package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/leat-io/leat/dstream/sink/files"
)

// batchInterval is that of the program.
const batchInterval = 100 * time.Millisecond

// longestRestart is after how long a restart counts as failed.
const longestRestart = time.Minute

// measureRestarts measures how long the program takes from its start, after a kill, to the next committed batch, and beside it a program that
// opens the same driver log. It prints a line.
func (c *campaign) measureRestarts(ctx context.Context, opener string, out io.Writer) error {
	var program, open []time.Duration
	for range c.restarts {
		began := time.Now()
		if output, err := exec.CommandContext(ctx, opener, filepath.Join(c.dir, "checkpoint", "driver.db")).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		open = append(open, time.Since(began))
		took, err := c.restart(ctx)
		if err != nil {
			return err
		}
		program = append(program, took)
	}
	slices.Sort(program)
	slices.Sort(open)
	p, o := program[len(program)/2], open[len(open)/2]
	_, err := fmt.Fprintf(out, "restarts %d\tto the next committed batch %v (most %v)\tplain open %v (most %v)\twithout a batch of %v: %.1f times\n",
		c.restarts, p.Round(time.Millisecond), program[len(program)-1].Round(time.Millisecond), o.Round(100*time.Microsecond),
		open[len(open)-1].Round(100*time.Microsecond), batchInterval, float64(p-batchInterval)/float64(o))
	return err
}

// restart starts the program, which was killed, gives it a file, waits for a batch that was not committed before and kills it again.
func (c *campaign) restart(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestRestart)
	defer cancel()
	sink := files.Text(filepath.Join(c.dir, "out"))
	before, err := sink.Last(ctx, "exactlyonce", "counts")
	if err != nil {
		return 0, err
	}
	if err := c.give(min(c.given+1, c.files)); err != nil {
		return 0, err
	}
	cmd, output := c.command(ctx)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for now := before; now.ID == before.ID && err == nil; {
		select {
		case <-tick.C:
			now, err = sink.Last(ctx, "exactlyonce", "counts")
			took = time.Since(began)
		case <-ctx.Done():
			err = fmt.Errorf("no batch is committed: %w", context.Cause(ctx))
		}
	}
	if killed := cmd.Process.Kill(); err == nil {
		err = killed
	}
	if waited := cmd.Wait(); err == nil && waited == nil {
		err = fmt.Errorf("the program ended by itself\n%s", output)
	}
	return took, err
}
