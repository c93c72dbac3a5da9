package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink/files"
)

// check compares what the sink shows with the text.
func (c *cluster) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	out := filepath.Join(c.dir, "out")
	sums, err := read(out, "counts", func(old, n int64) int64 { return old + n })
	if err != nil {
		return err
	}
	totals, err := read(out, "totals", func(_, n int64) int64 { return n })
	if err != nil {
		return err
	}
	report, err := files.Verify(out)
	if err == nil {
		err = report.Err()
	}
	return errors.Join(compare("sum of the batches", sums, c.text.counts), compare("running totals", totals, c.text.counts), err)
}

// read folds the rows of an output by word, in order of batches.
func read(out, output string, fold func(old, n int64) int64) (map[string]int64, error) {
	all, inBatch, batch := map[string]int64{}, map[string]bool{}, int64(-1)
	for row, err := range files.Read(out, files.ReadOptions{Output: output}) {
		if err != nil {
			return nil, err
		}
		if row.Batch != batch {
			clear(inBatch)
			batch = row.Batch
		}
		word, count, _ := strings.Cut(string(row.Line), "\t")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || inBatch[word] {
			return nil, fmt.Errorf("%s: batch %d: row %q, seen in this batch %t", output, row.Batch, row.Line, inBatch[word])
		}
		inBatch[word] = true
		all[word] = fold(all[word], n)
	}
	return all, nil
}

// compare says where got differs from want.
func compare(what string, got, want map[string]int64) error {
	if maps.Equal(got, want) {
		return nil
	}
	for _, word := range slices.Sorted(maps.Keys(want)) {
		if got[word] != want[word] {
			return fmt.Errorf("%s: %s has %d, the text %d", what, word, got[word], want[word])
		}
	}
	return fmt.Errorf("%s: %d words, the text has %d", what, len(got), len(want))
}

// counted returns how many words the sink shows.
func counted(out string) (words int64, err error) {
	sums, err := read(out, "counts", func(old, n int64) int64 { return old + n })
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // nothing was committed yet
	}
	for _, n := range sums {
		words += n
	}
	return words, err
}
