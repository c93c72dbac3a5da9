package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureGrep counts the lines with ERROR in the file, on each number of cores.
func measureGrep(ctx context.Context, s *suite, r row, in textInput) (err error) {
	var subjects []subject
	for _, cores := range s.cores {
		e, err := newEngine(cores)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.close()) }()
		pattern := []byte(workload.ErrorWord)
		subjects = append(subjects,
			grep(in, cores, "leat", func(ctx context.Context) (int, error) {
				lines := rdd.TextFile(e.fresh(), in.path, cores)
				n, err := lines.Filter(func(line string) bool { return strings.Contains(line, workload.ErrorWord) }).Count(ctx)
				return int(n), err
			}),
			grep(in, cores, "ReadFile, GrepLines", func(context.Context) (int, error) {
				data, err := os.ReadFile(in.path)
				return peer.GrepLines(data, pattern), err
			}),
			grep(in, cores, "GrepLines in memory", func(context.Context) (int, error) { return peer.GrepLines(in.data, pattern), nil }),
			grep(in, cores, "GrepScanner", func(context.Context) (int, error) {
				f, err := os.Open(in.path)
				if err != nil {
					return 0, err
				}
				n, err := peer.GrepScanner(f, pattern)
				return n, errors.Join(err, f.Close())
			}),
			grep(in, cores, "GrepIndex in memory", func(context.Context) (int, error) { return peer.GrepIndex(in.data, pattern), nil }),
		)
	}
	m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	const each = 5 // subjects on each number of cores
	r.variant = "grep, filter count"
	for i := 0; i < len(m); i += each {
		leat, read, lines, scanner, index := m[i], m[i+1], m[i+2], m[i+3], m[i+4]
		s.table.add(compare(r, leat, read, cpuOf, atLeast(0.7, 0.9)))
		s.table.add(gain(r, leat, scanner, cpuOf, floor{}))
		for _, other := range []measured{lines, index} {
			row := gain(r, leat, other, cpuOf, floor{})
			row.note = "ratio is peer/row; the peer reads no file"
			s.table.add(row)
		}
	}
	return nil
}

// grep is a subject that counts lines with ERROR.
func grep(in textInput, cores int, name string, count func(context.Context) (int, error)) subject {
	var found int
	return subject{
		name: name, procs: cores,
		work: func(ctx context.Context) (err error) {
			found, err = count(ctx)
			return err
		},
		check: func() error {
			if found != in.want.Errors {
				return fmt.Errorf("found %d lines, want %d", found, in.want.Errors)
			}
			return nil
		},
	}
}
