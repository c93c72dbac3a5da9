package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/leat-io/leat/tests/bench/workload"
)

// row is one line of the table.
type row struct {
	workload string
	variant  string
	size     workload.Size
	cores    int
	records  int     // what the cost is divided by: records, slides or batches
	cost     float64 // ns a record, the median over rounds
	peer     string  // what it is compared with; empty where it stands alone
	ratio    spread  // peer and row, the way round that the floor wants it
	floor    floor
	rounds   int
	note     string
}

// columns are the table's, in order.
var columns = []string{
	"workload", "variant", "size", "cores", "records", "ns/record", "peer",
	"median", "min", "max", "floor", "verdict", "rounds", "note",
}

// floor is what a row must reach, and what it should. The zero floor asks for nothing and has ratios
// printed as the row's cost over the peer's.
type floor struct {
	kind       floorKind
	must, want float64
}

type floorKind int

const (
	noFloor       floorKind = iota
	costAtMost              // the row's cost over the peer's
	gainAtLeast             // the peer's cost over the row's
	latencyAtMost           // the row's own cost, in ns
)

// atMost wants the row's cost to be at most must times the peer's; want is the aim.
func atMost(must, want float64) floor { return floor{costAtMost, must, want} }

// atLeast wants the peer's cost to be at least must times the row's; want is the aim.
func atLeast(must, want float64) floor { return floor{gainAtLeast, must, want} }

// within wants the row's own cost to be at most must; want is the aim.
func within(must, want time.Duration) floor {
	return floor{latencyAtMost, float64(must), float64(want)}
}

// String returns the floor with its aim in brackets.
func (f floor) String() string {
	switch f.kind {
	case costAtMost:
		return fmt.Sprintf("<=%g (%g)", f.must, f.want)
	case gainAtLeast:
		return fmt.Sprintf(">=%g (%g)", f.must, f.want)
	case latencyAtMost:
		return fmt.Sprintf("<=%v (%v)", time.Duration(f.must), time.Duration(f.want))
	}
	return "-"
}

// The verdicts.
const (
	verdictNone = "-"     // no floor
	verdictSize = "small" // floors hold from size M on
	verdictAim  = "aim"   // better than asked for
	verdictOK   = "ok"
	verdictMiss = "MISS"
)

// verdict compares the row with its floor.
func (r row) verdict() string {
	better := func(limit float64) bool {
		switch r.floor.kind {
		case gainAtLeast:
			return r.ratio.median >= limit
		case latencyAtMost:
			return r.cost <= limit
		}
		return r.ratio.median <= limit
	}
	switch {
	case r.floor.kind == noFloor:
		return verdictNone
	case r.size < workload.M:
		return verdictSize
	case better(r.floor.want):
		return verdictAim
	case better(r.floor.must):
		return verdictOK
	}
	return verdictMiss
}

// fields are the row's columns as text.
func (r row) fields() []string {
	median, least, most := "-", "-", "-"
	peer := "-"
	if r.peer != "" {
		peer = r.peer
		median, least, most = number(r.ratio.median), number(r.ratio.least), number(r.ratio.most)
	}
	return []string{
		r.workload, r.variant, r.size.String(), fmt.Sprint(r.cores), fmt.Sprint(r.records), number(r.cost), peer,
		median, least, most, r.floor.String(), r.verdict(), fmt.Sprint(r.rounds), r.note,
	}
}

// number returns x with three digits or so.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// table prints rows as they come.
type table struct {
	out    io.Writer
	missed int
	rows   []row
	err    error // the first that out reported
}

func newTable(out io.Writer) *table { return &table{out: out} }

// begin prints what the run is, and the names of the columns.
func (t *table) begin(o options) {
	t.printf("# leat benchmarks: size %s, seed %d, %d rounds of %v or more, %s on %s/%s with %d processors\n",
		o.size, workload.DefaultSeed, o.rounds, o.minRound, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	t.printf("# cost is %s time; ratios are row/peer, or peer/row where the floor says >= or the note says so\n", clockName)
	t.printf("%s\n", strings.Join(columns, "\t"))
}

func (t *table) add(r row) {
	if r.verdict() == verdictMiss {
		t.missed++
	}
	t.rows = append(t.rows, r)
	t.printf("%s\n", strings.Join(r.fields(), "\t"))
}

func (t *table) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(t.out, format, args...); err != nil && t.err == nil {
		t.err = err
	}
}
