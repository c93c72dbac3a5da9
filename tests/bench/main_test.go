package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are options under which a run takes a second or two.
func quick(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parseOptions(append([]string{"-size", "XS", "-rounds", "1", "-minround", "1us"}, args...), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestRun measures all workloads at their smallest. A wrong answer of leat or of a peer is an error of
// run.
func TestRun(t *testing.T) {
	want := map[string][]string{
		"W0": {
			"chain, functions of a record", "chain, functions of a record", "chain, functions of a record",
			"chain, functions of a chunk", "chain, functions of a chunk", "chain, functions of a chunk",
			"reduceByKey", "reduceByKey as Counts",
			"maps=1", "maps=2", "maps=4", "maps=8", "maps=16", "maps, each further",
		},
		"W1": {
			"wordcount, flatMap map reduceByKey", "wordcount, flatMapAppend Counts", "wordcount, flatMapAppend Counts",
			"grep, filter count", "grep, filter count", "grep, filter count", "grep, filter count",
			"windowed count of it all, W=30, inverse", "windowed count of it all, W=30, inverse",
			"windowed count, top 100, inverse", "windowed count, top 100, no inverse",
		},
		"W2": {
			"sum, inverse, W=60, slide", "sum, inverse, W=60, slide", "sum, inverse, W=60, slide without its reduceByKey",
			"max, no inverse, W=60, slide", "max, no inverse, W=60, slide", "max, no inverse, W=60, slide without its reduceByKey",
			"sum, inverse, W=60, slide", "sum, inverse, W=60, slide", "max, no inverse, W=60, slide", "max, no inverse, W=60, slide",
		},
		"W7": {
			"empty batch, stages=1/tasks=4, p50", "empty batch, stages=1/tasks=4, p99",
			"long run, last tenth of batches", "long run, heap at the end", "long run, goroutines at the end",
			"job, stages=1/tasks=1", "job, stages=1/tasks=4", "job, stages=1/tasks=16", "job, stages=1/tasks=64",
			"job, stages=2/tasks=1", "job, stages=2/tasks=4", "job, stages=2/tasks=16", "job, stages=2/tasks=64",
		},
	}
	for name, rows := range newRows() {
		want[name] = rows
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if _, err := run(t.Context(), quick(t, "-w", name, "-cores", "1"), &out); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range tableLines(t, out.String()) {
				checkRow(t, name, line)
				got = append(got, line[1])
			}
			if diff := cmp.Diff(want[name], got); diff != "" {
				t.Errorf("rows differ (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("two numbers of cores", func(t *testing.T) {
		var out bytes.Buffer
		if _, err := run(t.Context(), quick(t, "-w", "W1", "-only", "wordcount"), &out); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, line := range tableLines(t, out.String()) {
			checkRow(t, "W1", line)
			got[line[3]]++
		}
		if want := map[string]int{"1": 3, "2": 5}; !cmp.Equal(got, want) {
			t.Errorf("rows by cores are %v, want %v", got, want)
		}
	})
}

// newRows are the rows of the workloads that have many alike.
func newRows() map[string][]string {
	want := map[string][]string{
		"skew":   {"reduceByKey, one key with half of all", "reduceByKey, Zipf s=2", "reduceByKey, Zipf s=2, and one key with half"},
		"sort":   {"sortBy of integers, per core", "sortBy of integers, wall"},
		"join":   {"join of as many by as many, integer keys", "join of as many by as many, integer keys"},
		"cached": {"read of kept integers, chunks", "read of kept integers, records"},
		"socket": {"text lines into batches, wall", "text lines into batches, cpu"},
	}
	for _, keys := range []string{"K=10000", "K=100000"} {
		for _, parts := range []string{"", ", 4 partitions"} {
			want["reduce"] = append(want["reduce"], "reduceByKey, integer keys, "+keys+parts, "reduceByKey, text keys, "+keys+parts)
		}
	}
	for stages := 1; stages <= 2; stages++ {
		want["overhead"] = append(want["overhead"], fmt.Sprintf("job of %d stage and 1 task in each", stages))
		for _, tasks := range []int{4, 16, 64, 256, 1024} {
			want["overhead"] = append(want["overhead"], fmt.Sprintf("each task more, stages=%d/tasks=%d", stages, tasks))
		}
	}
	for _, keys := range gridKeys {
		for _, kind := range []string{"sum, inverse", "max, no inverse"} {
			name := fmt.Sprintf("%s, K=%d, W=60, slide ", kind, keys)
			want["W2grid"] = append(want["W2grid"], name+"1", name+"1, worst slide", name+"10", name+"60")
		}
	}
	const touched, mapped = "updateStateByKey, touched only", "mapWithState"
	want["W3"] = []string{
		touched + ", 1 % touched", mapped + ", 1 % touched", mapped + ", with a time-out, 1 % touched",
		touched + ", 1 % touched", mapped + ", 1 % touched",
		touched + ", idle batch", mapped + ", idle batch", mapped + ", with a time-out, idle batch",
		touched + ", bytes a key", mapped + ", bytes a key",
	}
	for _, share := range []string{"0.1", "1", "10", "100"} {
		for _, kind := range []string{touched, mapped} {
			want["W3"] = append(want["W3"], fmt.Sprintf("%s, curve, %s %% touched", kind, share))
		}
	}
	for _, n := range []int{4, 16, 64, 256} {
		want["W6"] = append(want["W6"],
			fmt.Sprintf("pairs, encode, partition and decode, P=%d", n), fmt.Sprintf("pairs, bytes a pair, P=%d", n),
			fmt.Sprintf("pairs, job of partitionBy, as bytes, P=%d", n), fmt.Sprintf("pairs, job of partitionBy, in place, P=%d", n))
	}
	want["W6"] = append(want["W6"], "partition sizes, integer keys, uniform", "partition sizes, integer keys, Zipf",
		"reduceByKey, combined first, in place", "reduceByKey, combined first, as bytes",
		"reduceByKey, all pairs sent, in place", "reduceByKey, all pairs sent, as bytes",
		"repartition of lines, in place", "repartition of lines, as bytes")
	for _, n := range workload.LineageLengths() {
		want["W13"] = append(want["W13"], fmt.Sprintf("maps=%d", n), fmt.Sprintf("maps=%d", n))
	}
	for _, n := range workload.LineageLengths() {
		want["W13"] = append(want["W13"], fmt.Sprintf("plan, maps=%d", n))
	}
	want["W13"] = append(want["W13"], "plan, 30 nested self-zips", "plan and run, 30 nested self-zips, each kept",
		losses[0].name, losses[1].name,
		"running reduce, checkpoint every 5 batches", "running reduce, checkpoint every 10 batches",
		"running reduce, checkpoint every 50 batches", "running reduce, no checkpoint")
	return want
}

// tableLines splits what a run printed into the fields of its rows.
func tableLines(t *testing.T, out string) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(out) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		t.Fatalf("no heading in:\n%s", out)
	}
	return rows[1:]
}

// checkRow checks the form of a row at size XS.
func checkRow(t *testing.T, name string, line []string) {
	t.Helper()
	if len(line) != len(columns) {
		t.Fatalf("row has %d fields, want %d: %q", len(line), len(columns), line)
	}
	f := map[string]string{}
	for i, c := range columns {
		f[c] = line[i]
	}
	if f["workload"] != name || f["variant"] == "" || f["size"] != "XS" {
		t.Errorf("row %q is not one of %s at XS", line, name)
	}
	for _, c := range []string{"cores", "records", "rounds"} {
		if n, err := strconv.Atoi(f[c]); err != nil || n < 1 {
			t.Errorf("%s is %q in %q", c, f[c], line)
		}
	}
	if _, err := strconv.ParseFloat(f["ns/record"], 64); err != nil {
		t.Errorf("cost is no number in %q", line)
	}
	var ratios [3]float64
	for i, c := range []string{"min", "median", "max"} {
		n, err := strconv.ParseFloat(f[c], 64)
		if alone := f["peer"] == "-"; alone != (f[c] == "-") || !alone && (err != nil || n < 0) {
			t.Errorf("%s is %q in %q", c, f[c], line)
		}
		ratios[i] = n
	}
	if f["rounds"] == "1" && f["variant"] != "long run, last tenth of batches" && !strings.HasPrefix(f["variant"], "lost one") && (ratios[0] != ratios[1] || ratios[1] != ratios[2]) {
		t.Errorf("one round has one ratio, not %v, in %q", ratios, line)
	}
	if want := map[bool]string{true: verdictNone, false: verdictSize}[f["floor"] == "-"]; f["verdict"] != want {
		t.Errorf("verdict is %q, want %q, in %q", f["verdict"], want, line)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		floor  floor
		ratio  float64
		cost   float64
		size   workload.Size
		want   string
		prints string
	}{
		{floor{}, 9, 1, workload.M, verdictNone, "-"},
		{atMost(3.5, 3), 3, 1, workload.M, verdictAim, "<=3.5 (3)"},
		{atMost(3.5, 3), 3.2, 1, workload.L, verdictOK, "<=3.5 (3)"},
		{atMost(3.5, 3), 3.6, 1, workload.M, verdictMiss, "<=3.5 (3)"},
		{atMost(3.5, 3), 3.6, 1, workload.S, verdictSize, "<=3.5 (3)"},
		{atLeast(1.6, 2), 2, 1, workload.M, verdictAim, ">=1.6 (2)"},
		{atLeast(1.6, 2), 1.7, 1, workload.M, verdictOK, ">=1.6 (2)"},
		{atLeast(1.6, 2), 1.5, 1, workload.M, verdictMiss, ">=1.6 (2)"},
		{within(200*time.Microsecond, 100*time.Microsecond), 99, 90_000, workload.M, verdictAim, "<=200µs (100µs)"},
		{within(200*time.Microsecond, 100*time.Microsecond), 99, 150_000, workload.M, verdictOK, "<=200µs (100µs)"},
		{within(200*time.Microsecond, 100*time.Microsecond), 0, 250_000, workload.M, verdictMiss, "<=200µs (100µs)"},
	} {
		r := row{size: c.size, floor: c.floor, ratio: same(c.ratio), cost: c.cost}
		if got := r.verdict(); got != c.want {
			t.Errorf("floor %v, ratio %g, cost %g, size %v: verdict %q, want %q", c.floor, c.ratio, c.cost, c.size, got, c.want)
		}
		if got := c.floor.String(); got != c.prints {
			t.Errorf("floor prints as %q, want %q", got, c.prints)
		}
	}
}

func TestTable(t *testing.T) {
	t.Run("a missed floor is counted", func(t *testing.T) {
		tab := newTable(new(bytes.Buffer))
		tab.add(row{size: workload.M, floor: atMost(2, 1), ratio: same(1.5)})
		tab.add(row{size: workload.M, floor: atMost(2, 1), ratio: same(2.5)})
		if tab.missed != 1 {
			t.Errorf("%d rows missed, want 1", tab.missed)
		}
	})
	t.Run("a writer that fails is reported", func(t *testing.T) {
		_, err := run(t.Context(), quick(t, "-w", "W0", "-only", "reduceByKey", "-cores", "1"), failing{})
		if !errors.Is(err, errFull) {
			t.Errorf("got %v, want %v", err, errFull)
		}
	})
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestInterleave(t *testing.T) {
	var order []string
	named := func(name string, passes int) subject {
		return subject{
			name: name, procs: 1, passes: passes,
			work:  func(context.Context) error { order = append(order, name); return nil },
			check: func() error { order = append(order, name+"?"); return nil },
		}
	}
	t.Run("subjects take turns", func(t *testing.T) {
		m, err := interleave(t.Context(), 2, 0, named("a", 1), named("b", 2))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields("a a? b b? a a? b b b? a a? b b b?")
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order differs (-want +got):\n%s", diff)
		}
		if len(m[0].rounds) != 2 || len(m[1].rounds) != 2 {
			t.Errorf("%d and %d rounds, want 2 each", len(m[0].rounds), len(m[1].rounds))
		}
	})
	t.Run("a wrong answer ends it", func(t *testing.T) {
		wrong := errors.New("17 is not 4")
		bad := named("bad", 1)
		bad.check = func() error { return wrong }
		if _, err := interleave(t.Context(), 2, 0, bad); !errors.Is(err, wrong) || !strings.Contains(fmt.Sprint(err), "bad: wrong answer") {
			t.Errorf("got %v, want a wrong answer of bad", err)
		}
	})
	t.Run("a subject that fails ends it", func(t *testing.T) {
		broken := named("broken", 1)
		broken.work = func(context.Context) error { return errFull }
		if _, err := interleave(t.Context(), 2, 0, broken); !errors.Is(err, errFull) {
			t.Errorf("got %v, want %v", err, errFull)
		}
	})
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		all  []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, same(3)},
		{[]float64{9, 1, 4}, spread{4, 1, 9}},
		{[]float64{9, 1, 4, 2}, spread{3, 1, 9}},
	} {
		if got := spreadOf(slices.Clone(c.all)); got != c.want {
			t.Errorf("spread of %v is %v, want %v", c.all, got, c.want)
		}
	}
	a := measured{rounds: []timing{{cpu: 10}, {cpu: 40}, {cpu: 90}}}
	b := measured{rounds: []timing{{cpu: 5}, {cpu: 10}, {cpu: 30}}}
	if got, want := over(a, b, cpuOf), (spread{3, 2, 4}); got != want {
		t.Errorf("ratios spread as %v, want %v", got, want)
	}
	up := compare(row{records: 10}, a, b, cpuOf, atLeast(1, 1))
	if want := (spread{1. / 3, 1. / 4, 1. / 2}); up.ratio != want || up.cost != 4 {
		t.Errorf("got ratio %v and cost %g, want %v and 4", up.ratio, up.cost, want)
	}
}

func TestPercentile(t *testing.T) {
	all := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 6, 0.99: 10, 1: 10} {
		if got := percentile(all, p); got != want {
			t.Errorf("percentile %g is %d, want %d", p, got, want)
		}
	}
	if got := percentile(nil, 0.5); got != 0 {
		t.Errorf("percentile of nothing is %d, want 0", got)
	}
}

func TestOptions(t *testing.T) {
	for _, args := range []string{
		"-size XXL", "-w W0,W9", "-w W0,", "-cores 0", "-cores 1,two", "-rounds 0", "-unknown",
	} {
		if _, err := parseOptions(strings.Fields(args), t.Output()); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	o, err := parseOptions(strings.Fields("-w W2 -size S -rounds 3 -cores 2,4 -floor"), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	want := options{workloads: []string{"W2"}, size: workload.S, rounds: 3, cores: []int{2, 4}, minRound: 200 * time.Millisecond, floor: true}
	if diff := cmp.Diff(want, o, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("options differ (-want +got):\n%s", diff)
	}
}

// TestWrongAnswers spoils the inputs: a check that passes then checks nothing.
func TestWrongAnswers(t *testing.T) {
	t.Run("chain", func(t *testing.T) {
		in, err := newChainInput(workload.XS)
		if err != nil {
			t.Fatal(err)
		}
		s := &suite{options: quick(t, "-w", "W0"), table: newTable(new(bytes.Buffer))}
		for _, part := range []string{"chain", "reduceByKey"} {
			bad := in
			bad.want.KeySum++
			bad.want.Sums.Key1++
			s.only = part
			if err := measureChainOn(t.Context(), s, bad, 1); err == nil {
				t.Errorf("%s: wrong answer goes unnoticed", part)
			}
		}
	})
	t.Run("pairs", func(t *testing.T) {
		in, err := newPairInput(workload.PairsOptions{}, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		text, err := newTextPairs(workload.XS, 100)
		if err != nil {
			t.Fatal(err)
		}
		e, err := newEngine(1)
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range []subject{
			in.reduced("leat", e, 1, 2), in.mapped("map", 1, func() map[int64]int64 { return map[int64]int64{1: 2} }),
			text.reduced("leat", e, 1, 2), text.mapped("map", 1, func() map[string]int64 { return map[string]int64{"k00000001": 2} }),
		} {
			leat := sub.name == "leat"
			if err := sub.work(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := sub.check(); leat != (err == nil) {
				t.Errorf("%s: check says %v", sub.name, err)
			}
			if err := sub.check(); err == nil {
				t.Errorf("%s: no answer passes", sub.name)
			}
		}
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("text", func(t *testing.T) {
		in, err := newTextInput(t.TempDir(), workload.XS)
		if err != nil {
			t.Fatal(err)
		}
		in.want.Errors++
		in.want.Counts.Top[4].Count++
		s := &suite{options: quick(t, "-w", "W1", "-cores", "1"), table: newTable(new(bytes.Buffer))}
		if err := measureGrep(t.Context(), s, row{}, in); err == nil {
			t.Error("grep: wrong answer goes unnoticed")
		}
		if err := measureWordCount(t.Context(), s, row{}, in); err == nil {
			t.Error("wordcount: wrong answer goes unnoticed")
		}
	})
	t.Run("window", func(t *testing.T) {
		in, err := newWindowInput(workload.XS, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []windowKind{withInverse, withoutInverse, recomputed, recomputedReduced} {
			w, err := newWindowed(kind, in, 3, 1, 1, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := w.warm(t.Context(), 5); err != nil {
				t.Errorf("%s: %v", kind.name, err)
			}
			w.got.digest++
			if err := w.check(); err == nil {
				t.Errorf("%s: wrong answer goes unnoticed", kind.name)
			}
			if err := w.close(); err != nil {
				t.Error(err)
			}
		}
	})
}
