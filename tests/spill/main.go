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
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "spill:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	bytes, memory int64
	partitions    int
	only          []string
	dir           string
	kill          bool
}

// errFailed says that a line of the table has told what is wrong.
var errFailed = errors.New("a job failed its check")

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "spill-*"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	if o.kill {
		if err := killOne(ctx, o, out); err != nil {
			return fmt.Errorf("killed process: %w", err)
		}
	}
	// The collector may use half as much again as the rows: it is told so, or it would wait for twice.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.memory * 3 / 2))
	fmt.Fprintln(out, "job\trows\tright\tseconds\tpeak MiB\tspilled MiB\tfiles left")
	failed := false
	for _, j := range jobs {
		if !slices.Contains(o.only, j.name) {
			continue
		}
		ok, err := measure(ctx, o, j, out)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		failed = failed || !ok
	}
	if failed {
		return errFailed
	}
	return nil
}

// measure runs one job with an engine of its own and prints its line.
func measure(ctx context.Context, o options, j job, out io.Writer) (ok bool, err error) {
	debug.FreeOSMemory()
	resetPeak()
	began := time.Now()
	var spilled int64
	rows := o.bytes / j.rowBytes
	wrong, err := func() (wrong error, err error) {
		sched := scheduler.New(local.New(local.Options{Memory: o.memory, Dir: o.dir}), scheduler.Options{
			Listeners: []scheduler.Listener{{TaskEnded: func(e scheduler.TaskEnded) { spilled += e.Metrics.SpilledBytes }}},
		})
		defer func() { err = errors.Join(err, sched.Close()) }()
		c, err := rdd.NewContext(sched, rdd.Options{DefaultParallelism: o.partitions})
		if err != nil {
			return nil, err
		}
		return j.run(ctx, c, rows, o.partitions)
	}()
	if err != nil {
		return false, err
	}
	took, peak := time.Since(began), peakMemory()
	left, err := filesIn(o.dir)
	if err != nil {
		return false, err
	}
	right := "yes"
	if wrong != nil {
		right = "no: " + wrong.Error()
	}
	fmt.Fprintf(out, "%s\t%d\t%s\t%.1f\t%d\t%d\t%d\n", j.name, rows, right, took.Seconds(), peak>>20, spilled>>20, left)
	return wrong == nil && left == 0 && peak <= max(2*o.memory, leastPeak), nil
}

// leastPeak is what the process needs besides rows: its code, the generator's dictionary, buffers of tasks.
const leastPeak = 160 << 20

func parse(args []string) (options, error) {
	fs := flag.NewFlagSet("spill", flag.ContinueOnError)
	size := fs.String("bytes", "8GiB", "`size` of the data of each job")
	memory := fs.String("memory", "256MiB", "`size` of the memory budget")
	only := fs.String("only", "", "`jobs` to run, separated by commas; all by default")
	partitions := fs.Int("partitions", 0, "partitions; 0: one for each 32 MiB")
	dir := fs.String("dir", "", "`folder` for temporary files; one of its own by default")
	kill := fs.Bool("kill", false, "kill a process in the middle of a job first")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	o := options{partitions: *partitions, dir: *dir, kill: *kill}
	var err error
	if o.bytes, err = sizeOf(*size); err != nil {
		return options{}, err
	}
	if o.memory, err = sizeOf(*memory); err != nil {
		return options{}, err
	}
	for _, j := range jobs {
		if *only == "" || slices.Contains(strings.Split(*only, ","), j.name) {
			o.only = append(o.only, j.name)
		}
	}
	if len(o.only) == 0 || *only != "" && len(o.only) != strings.Count(*only, ",")+1 {
		return options{}, fmt.Errorf("unknown job in %q", *only)
	}
	if o.partitions == 0 {
		o.partitions = int(max(o.bytes>>25, 4))
	}
	return o, nil
}

// sizeOf reads a number of bytes such as 8GiB.
func sizeOf(s string) (int64, error) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n <= 0 {
				return 0, fmt.Errorf("size %q is no positive number of %s", s, unit)
			}
			return n << (10 * (i + 1)), nil
		}
	}
	return 0, fmt.Errorf("size %q has no unit KiB, MiB or GiB", s)
}

// filesIn counts what is in a folder and below.
func filesIn(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if path != dir {
			n++
		}
		return err
	})
	return n, err
}
