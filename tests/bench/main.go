package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/tests/bench/workload"
)

// options are what the flags say.
type options struct {
	workloads []string
	size      workload.Size
	rounds    int
	cores     []int
	minRound  time.Duration // how long a subject runs in a round at least, where it can be run again
	only      string        // rows whose variant does not contain it are not measured, where that saves time
	floor     bool
	profile   string
}

// parseOptions reads the command line.
func parseOptions(args []string, errs io.Writer) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errs)
	names := flags.String("w", "W0,W1,W2,W2grid,W3,W6,W7,W8,W13,skew,reduce,sort,join,cached,overhead,socket", "workloads, separated by commas")
	size := flags.String("size", "M", "XS, S, M or L; floors hold from M on")
	rounds := flags.Int("rounds", 7, "rounds of each comparison; slow ones take fewer and say so")
	cores := flags.String("cores", "1,2", "numbers of cores, separated by commas")
	minRound := flags.Duration("minround", 200*time.Millisecond, "how long a subject runs in a round at least")
	only := flags.String("only", "", "measure only the parts of a workload whose name contains this")
	floor := flags.Bool("floor", false, "exit 1 when a row misses its floor")
	profile := flags.String("cpuprofile", "", "write a CPU profile to this file")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o := options{
		workloads: strings.Split(*names, ","), rounds: *rounds, minRound: *minRound, only: *only,
		floor: *floor, profile: *profile,
	}
	var err error
	if o.size, err = workload.ParseSize(*size); err != nil {
		return o, err
	}
	for _, c := range strings.Split(*cores, ",") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 1 {
			return o, fmt.Errorf("cores %q: want numbers above 0, separated by commas", *cores)
		}
		o.cores = append(o.cores, n)
	}
	return o, o.validate()
}

// validate returns what is wrong with the options, joined.
func (o options) validate() error {
	var errs []error
	if o.rounds < 1 {
		errs = append(errs, fmt.Errorf("%d rounds: want at least 1", o.rounds))
	}
	for _, name := range o.workloads {
		if suites[name] == nil {
			errs = append(errs, fmt.Errorf("workload %q: want some of %s", name, strings.Join(slices.Sorted(maps.Keys(suites)), ", ")))
		}
	}
	return errors.Join(errs...)
}

// suites are the workloads by name.
var suites = map[string]func(context.Context, *suite) error{
	"W0":     measureChain,
	"W1":     measureText,
	"W2":     measureWindows,
	"W2grid": measureGrid,
	"W3":     measureState,
	"W6":     measureShuffle,
	"W7":     measureOverhead,
	"W8":     measureCheckpoints,
	"W13":    measureLineage,

	"skew":     measureSkew,
	"reduce":   measureReduce,
	"sort":     measureSort,
	"join":     measureJoin,
	"cached":   measureCached,
	"overhead": measureTasks,
	"socket":   measureSocket,
}

// suite is what measuring a workload needs.
type suite struct {
	options
	table *table
	dir   string // a temporary folder for files
}

// wants reports whether a part of a workload is to be measured.
func (s *suite) wants(part string) bool { return strings.Contains(part, s.only) }

// most is the largest number of cores asked for.
func (s *suite) most() int {
	n := 1
	for _, c := range s.cores {
		n = max(n, c)
	}
	return n
}

// run measures everything and reports whether all floors were reached.
func run(ctx context.Context, o options, out io.Writer) (reached bool, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	t := newTable(out)
	t.begin(o)
	s := &suite{options: o, table: t, dir: dir}
	for _, name := range o.workloads {
		if err := suites[name](ctx, s); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t.missed == 0, t.err
}

// profiled calls f with a CPU profile being written to name, unless that is empty.
func profiled(name string, f func() error) (err error) {
	if name == "" {
		return f()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

func main() {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	reached := false
	if err == nil {
		err = profiled(o.profile, func() (err error) {
			reached, err = run(context.Background(), o, os.Stdout)
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if o.floor && !reached {
		os.Exit(1)
	}
}
