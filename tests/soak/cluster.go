package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// demonstration is the program that hurts a cluster of processes and checks what they write.
const demonstration = "github.com/leat-io/leat/examples/failover"

// A clusterRun is a run of it.
type clusterRun struct {
	lasting, report, batch time.Duration
	nodes, lines           int
	seed                   uint64
	dir                    string // empty means a temporary one, which stays where something is wrong
}

// args returns the command line of the demonstration.
func (r clusterRun) args() []string {
	return []string{"-lasting", r.lasting.String(), "-sample", r.report.String(), "-batch", r.batch.String(), "-nodes", strconv.Itoa(r.nodes),
		"-lines", strconv.Itoa(r.lines), "-seed", strconv.FormatUint(r.seed, 10), "-dir", r.dir}
}

// endureCluster builds the demonstration, lets it run, and compares what it has used early and late.
func endureCluster(ctx context.Context, r clusterRun, out io.Writer) (err error) {
	bin, err := os.MkdirTemp("", "soak-bin-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	program := filepath.Join(bin, "failover")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, demonstration)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build %s: %w", demonstration, err)
	}
	fmt.Fprintf(out, "%s %s\n", filepath.Base(program), strings.Join(r.args(), " "))
	return r.judge(ctx, exec.CommandContext(ctx, program, r.args()...), out)
}

// judge runs the demonstration, shows what it prints, and compares what it has used early and late.
func (r clusterRun) judge(ctx context.Context, cmd *exec.Cmd, out io.Writer) error {
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends its nodes
	cmd.WaitDelay = time.Minute
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	var all samples
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
		if s, ok := parseSample(lines.Text()); ok {
			all = append(all, s)
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("seed %d: the demonstration: %w", r.seed, err)
	}
	fmt.Fprintf(out, "seed %d, %v\n", r.seed, time.Since(began).Round(time.Second))
	if len(all) > 0 {
		fmt.Fprintf(out, "%d times a node held the same as another at the same index\n", all[len(all)-1].measures["digests_compared"])
	}
	return all.flat(r.lasting, out)
}
