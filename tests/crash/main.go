package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/tests/bench/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	size                workload.Size
	files, kills, stops int
	restarts            int
	isolate, windows    bool
	seed                uint64
	dir                 string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("crash", flag.ContinueOnError)
	size := flags.String("size", "M", "how much text: XS, S, M or L")
	flags.IntVar(&o.files, "files", 200, "how many files it is cut into")
	flags.IntVar(&o.kills, "kills", 200, "how often the program is killed")
	flags.IntVar(&o.stops, "stops", 50, "how often it is stopped and goes on")
	flags.IntVar(&o.restarts, "restarts", 0, "how many restarts are measured, after the kills")
	flags.BoolVar(&o.isolate, "isolate", false, "the program encodes what goes between tasks")
	flags.BoolVar(&o.windows, "windows", false, "the program keeps a window and a function with state as well")
	flags.Uint64Var(&o.seed, "seed", 1, "of the times")
	flags.StringVar(&o.dir, "dir", "", "folder for everything, which stays; empty means a temporary one")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.size, err = workload.ParseSize(*size)
	if err == nil && (o.files < 1 || o.kills < 0 || o.stops < 0 || o.restarts < 0) {
		err = errors.New("-files must be positive, -kills, -stops and -restarts not negative")
	}
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "crash-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	began := time.Now()
	text, err := split(o)
	if err != nil {
		return err
	}
	program, err := build(ctx, o.dir, "examples/exactlyonce")
	if err != nil {
		return err
	}
	opener, err := build(ctx, o.dir, "tests/crash/openlog")
	if err != nil {
		return err
	}
	c := &campaign{options: o, program: program, rng: rand.New(rand.NewPCG(o.seed, 0))}
	if err := c.kill(ctx); err != nil {
		return err
	}
	if o.restarts > 0 {
		if err := c.measureRestarts(ctx, opener, out); err != nil {
			return err
		}
	}
	last, err := c.end(ctx)
	if err != nil {
		return err
	}
	answer, err := check(o, text, last)
	verdict := "ok"
	if err != nil {
		verdict = "not ok"
	}
	fmt.Fprintf(out, "kills %d\tstops %d\tbatches %d\trows %d\twords %d\tseconds %.0f\t%s\n",
		c.killed, c.stopped, answer.batches, answer.rows, answer.words, time.Since(began).Seconds(), verdict)
	return err
}

// build builds a program of this module.
func build(ctx context.Context, dir, pkg string) (path string, err error) {
	path = filepath.Join(dir, filepath.Base(pkg)+".exe")
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/leat-io/leat/"+pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, output)
	}
	return path, nil
}

// split writes the text in files below ready, and returns its counts.
func split(o options) (map[string]int64, error) {
	for _, dir := range []string{"ready", "in", "out", "checkpoint"} {
		if err := os.MkdirAll(filepath.Join(o.dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	counts := map[string]int64{}
	lines := o.size.Records()
	for i := range o.files {
		var text bytes.Buffer
		if err := workload.WriteText(&text, workload.DefaultSeed, i*lines/o.files, (i+1)*lines/o.files); err != nil {
			return nil, err
		}
		for word := range strings.FieldsSeq(text.String()) {
			counts[word]++
		}
		if err := os.WriteFile(filepath.Join(o.dir, "ready", fileName(i)), text.Bytes(), 0o644); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func fileName(i int) string { return fmt.Sprintf("text-%04d.txt", i) }
