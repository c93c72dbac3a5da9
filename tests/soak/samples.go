package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A sample is a line of measures of a cluster.
type sample struct {
	at       time.Duration // since the beginning
	measures map[string]int64
}

// parseSample returns what a line says, false for other lines.
//
//	sample<TAB>seconds<TAB>name=value<TAB>...
func parseSample(line string) (sample, bool) {
	fields := strings.Split(line, "\t")
	if len(fields) < 2 || fields[0] != "sample" {
		return sample{}, false
	}
	seconds, err := strconv.Atoi(fields[1])
	s := sample{time.Duration(seconds) * time.Second, map[string]int64{}}
	for _, field := range fields[2:] {
		name, value, _ := strings.Cut(field, "=")
		n, bad := strconv.ParseInt(value, 10, 64)
		err = errors.Join(err, bad)
		s.measures[name] = n
	}
	return s, err == nil
}

// limited are the measures that may not grow, with what the last quarter of a run may have more than the second besides a fourth. Those of one
// node are of a process that lives from the first quarter to the end. What the sink shows grows, as it should, and the text that is fed
// is removed once it was compared; neither is among them.
var limited = []struct {
	name  string
	slack int64
}{
	{"one_goroutines", 8}, {"one_heap_kib", 4 << 10}, {"one_rss_kib", 16 << 10}, {"one_open_files", 8},
	{"goroutines", 16}, {"heap_kib", 4 << 10}, {"rss_kib", 16 << 10}, {"open_files", 8},
	{"raft_kib", 2 << 10}, {"raft_files", 8}, {"copies_kib", 64}, {"copies_files", 4},
	{"shared_kib", 1 << 10}, {"shared_files", 10}, {"text_files", 200}, {"checker_heap_kib", 8 << 10},
}

// least is how many samples a quarter needs to be compared.
const least = 3

type samples []sample

// flat prints a table of what the second quarter of a run and the last have at most in nine of ten samples, and returns an error where
// something has grown, or has never been measured.
//
//	flat<TAB>measure<TAB>second quarter<TAB>last quarter<TAB>limit
func (all samples) flat(length time.Duration, out io.Writer) error {
	second, last := all.between(length/4, length/2), all.between(length*3/4, 1<<62)
	if len(second) < least || len(last) < least {
		fmt.Fprintf(out, "%d and %d samples in the second quarter and the last are too few to compare\n", len(second), len(last))
		return nil
	}
	var errs []error
	for _, l := range limited {
		before, ok1 := second.high(l.name)
		after, ok2 := last.high(l.name)
		limit := before + before/4 + l.slack
		fmt.Fprintf(out, "flat\t%s\t%d\t%d\t%d\n", l.name, before, after, limit)
		switch {
		case !ok1 || !ok2:
			errs = append(errs, fmt.Errorf("%s is not measured", l.name))
		case after > limit:
			errs = append(errs, fmt.Errorf("%s has grown from %d to %d, the limit is %d", l.name, before, after, limit))
		}
	}
	return errors.Join(errs...)
}

// between returns the samples of a time.
func (all samples) between(from, to time.Duration) (some samples) {
	for _, s := range all {
		if s.at >= from && s.at < to {
			some = append(some, s)
		}
	}
	return some
}

// high returns what nine of ten samples have at most, false where one of them lacks it.
func (all samples) high(name string) (int64, bool) {
	var values []int64
	for _, s := range all {
		value, ok := s.measures[name]
		if !ok {
			return 0, false
		}
		values = append(values, value)
	}
	slices.Sort(values)
	return values[(len(values)*9+9)/10-1], true
}
