package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// killOne runs the jobs in a process of its own and kills it once it has written files.
func killOne(ctx context.Context, o options, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self, "-bytes", kib(o.bytes), "-memory", kib(o.memory), "-dir", o.dir,
		"-partitions", strconv.Itoa(o.partitions), "-only", strings.Join(o.only, ","))
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	written := 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * time.Minute); written < 4 && time.Now().Before(deadline) && ctx.Err() == nil; {
		<-tick.C
		if written, err = filesIn(o.dir); err != nil {
			break
		}
	}
	err = errors.Join(err, child.Process.Kill())
	var exit *exec.ExitError
	if waited := child.Wait(); waited != nil && !errors.As(waited, &exit) {
		err = errors.Join(err, waited)
	}
	if err != nil {
		return err
	}
	left, err := filesIn(o.dir)
	if err != nil {
		return err
	}
	if left == 0 {
		return errors.New("it left no files, so there is nothing to see")
	}
	fmt.Fprintf(out, "killed a process that left %d files\n", left)
	return nil
}

func kib(bytes int64) string { return fmt.Sprintf("%dKiB", bytes>>10) }
