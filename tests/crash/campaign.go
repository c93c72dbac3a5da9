package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A campaign is a program that is killed and started again until all files are counted.
type campaign struct {
	options
	program         string
	rng             *rand.Rand
	given           int // files that were moved
	killed, stopped int
}

// Bounds of the times between faults. A program needs some tens of milliseconds to go on, so that some die in recovery.
const (
	longestRun  = 900 * time.Millisecond
	longestStop = 500 * time.Millisecond
	longestEnd  = 10 * time.Minute
)

// kill lets the program be killed so often.
func (c *campaign) kill(ctx context.Context) error {
	for c.killed < c.kills {
		if err := c.life(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end gives the program what is left and lets it end by itself. It returns what it printed.
func (c *campaign) end(ctx context.Context) (last string, err error) {
	if err := c.give(c.files); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, longestEnd)
	defer cancel()
	cmd, output := c.command(ctx)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the last program: %w\n%s", err, output)
	}
	return output.String(), nil
}

// life starts the program, gives it files, and kills it after a while.
func (c *campaign) life(ctx context.Context) error {
	cmd, output := c.command(ctx)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	wait := func(most time.Duration) error {
		timer := time.NewTimer(time.Duration(c.rng.Int64N(int64(most))))
		defer timer.Stop()
		select {
		case err := <-ended:
			return fmt.Errorf("the program ended by itself after %d kills: %w\n%s", c.killed, err, output)
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}
	// The files come so that the last ones are there with the last kills.
	if err := c.give((c.killed + 1) * (c.files - c.restarts) / (c.kills + 1)); err != nil {
		return err
	}
	if err := wait(longestRun); err != nil {
		return err
	}
	if c.stopped < c.stops && c.rng.IntN(max(1, c.kills-c.killed)) < c.stops-c.stopped {
		if err := pauseProcess(cmd.Process, func() error { return wait(longestStop) }); err != nil {
			return err
		}
		c.stopped++
		if err := wait(longestRun); err != nil {
			return err
		}
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	c.killed++
	if err := <-ended; err == nil {
		return fmt.Errorf("the program ended by itself\n%s", output)
	}
	if text := output.String(); strings.Contains(text, "exactlyonce:") {
		return fmt.Errorf("the program failed after %d kills: %s", c.killed, text)
	}
	return nil
}

func (c *campaign) command(ctx context.Context) (*exec.Cmd, *bytes.Buffer) {
	at := func(name string) string { return filepath.Join(c.dir, name) }
	args := []string{"-in", at("in"), "-out", at("out"), "-checkpoint", at("checkpoint"), "-batch", batchInterval.String(), "-until-idle", "3s"}
	if c.isolate {
		args = append(args, "-isolate")
	}
	if c.windows {
		args = append(args, "-windows")
	}
	output := new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// give moves files until so many are there.
func (c *campaign) give(n int) error {
	for ; c.given < n; c.given++ {
		from, to := filepath.Join(c.dir, "ready", fileName(c.given)), filepath.Join(c.dir, "in", fileName(c.given))
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return nil
}
