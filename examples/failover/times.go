package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// times are how long each fault kept the next batch, by what was done.
type times []struct {
	mode string
	took time.Duration
}

func (t *times) add(mode string, took time.Duration) {
	*t = append(*t, struct {
		mode string
		took time.Duration
	}{mode, took})
}

// print prints a line for each mode, with what half, 90 and 99 of a hundred and all of them took at most, and returns all, sorted.
//
//	times<TAB>mode<TAB>count<TAB>p50_ms<TAB>p90_ms<TAB>p99_ms<TAB>max_ms
func (t times) print(stdout io.Writer) (all []time.Duration) {
	byMode, names := map[string][]time.Duration{}, []string(nil)
	for _, one := range t {
		if byMode[one.mode] == nil {
			names = append(names, one.mode)
		}
		byMode[one.mode] = append(byMode[one.mode], one.took)
		all = append(all, one.took)
	}
	slices.Sort(names)
	for _, mode := range names {
		of := byMode[mode]
		slices.Sort(of)
		fmt.Fprintf(stdout, "times\t%s\t%d\t%d\t%d\t%d\t%d\n", mode, len(of), quantile(of, 50), quantile(of, 90), quantile(of, 99), quantile(of, 100))
	}
	slices.Sort(all)
	return all
}

// quantile returns a quantile of sorted times in milliseconds, 0 if there are none.
func quantile(sorted []time.Duration, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1].Milliseconds()
}
