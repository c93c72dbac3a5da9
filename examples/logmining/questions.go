package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/leat-io/leat/rdd"
)

// An answer is what was found for a question, and how many lines of the log were read for it.
type answer struct {
	question string
	found    int64
	rows     []string
	long     bool // the rows are many, show some
	read     int64
}

// ask puts all questions to the errors of a log, one job each.
func ask(ctx context.Context, errs *rdd.RDD[string], component string, read *atomic.Int64) ([]answer, error) {
	about := errs.Filter(func(line string) bool { return strings.Contains(line, component) })
	var answers []answer
	for _, q := range []func() (answer, error){
		func() (answer, error) {
			n, err := errs.Count(ctx)
			return answer{question: "errors", found: n}, err
		},
		func() (answer, error) {
			n, err := about.Count(ctx)
			return answer{question: "errors that mention " + component, found: n}, err
		},
		func() (answer, error) {
			hours, err := rdd.CountByValue(ctx, rdd.Map(errs, func(line string) string { return hour(timeField(line)) }))
			slices.SortFunc(hours, func(a, b rdd.Pair[string, int64]) int { return cmp.Compare(a.Key, b.Key) })
			a := answer{question: "hours with errors", found: int64(len(hours))}
			for _, h := range hours {
				a.rows = append(a.rows, fmt.Sprintf("%s\t%d", h.Key, h.Value))
			}
			return a, err
		},
		func() (answer, error) {
			times, err := rdd.Map(about, timeField).Collect(ctx)
			return answer{question: "times of errors that mention " + component, found: int64(len(times)), rows: times, long: true}, err
		},
	} {
		before := read.Load()
		a, err := q()
		if err != nil {
			return nil, err
		}
		a.read = read.Load() - before
		answers = append(answers, a)
	}
	return answers, nil
}

// timeField returns the fourth field of a line, "-" where there is none.
func timeField(line string) string {
	for range 3 {
		_, rest, ok := strings.Cut(line, "\t")
		if !ok {
			return "-"
		}
		line = rest
	}
	field, _, _ := strings.Cut(line, "\t")
	return field
}

// hour returns a time as far as its hour: "2012-04-25T07" of "2012-04-25T07:13:22Z".
func hour(time string) string {
	h, _, _ := strings.Cut(time, ":")
	return h
}
