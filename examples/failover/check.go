package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink/files"
)

// check stops the nodes and compares what the sink shows with the text, and the logs of the nodes with each other and with the sink.
func (c *group) check(ctx context.Context, stdout io.Writer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if err := errors.Join(c.stop(ctx), c.board.err()); err != nil {
		return err
	}
	h, err := c.history(ctx)
	if err != nil {
		return err
	}
	sums, err := read(c.out(), "counts", func(old, n int64) int64 { return old + n })
	if err != nil {
		return err
	}
	last, err := read(c.out(), "totals", func(_, n int64) int64 { return n })
	if err != nil {
		return err
	}
	err = errors.Join(compare("sum of the batches", sums, c.text.counts), compare("running totals", last, c.text.counts),
		checkWindows(c.out(), h.times, int64(c.batch.Milliseconds())), checkParts(c.out(), int64(len(h.times))), c.ended())
	builds, wrong := c.checkBuilds()
	err = errors.Join(err, wrong)
	if builds[secondBuild] > 0 {
		fmt.Fprintf(stdout, "%d batches with rows by the first build, %d by the second\n", builds[firstBuild], builds[secondBuild])
	}
	fmt.Fprintf(stdout, "%d batches of %d epochs, %d entries on %d nodes\n", len(h.times), h.epochs, h.entries, len(c.members()))
	return err
}

// out returns the folder of the sink.
func (c *group) out() string { return filepath.Join(c.dir, "out") }

// read folds the rows of an output by word, in order of batches.
func read(out, output string, fold func(old, n int64) int64) (map[string]int64, error) {
	all := map[string]int64{}
	err := eachBatch(out, output, func(_ int64, words map[string]int64) error {
		for word, n := range words {
			all[word] = fold(all[word], n)
		}
		return nil
	})
	return all, err
}

// eachBatch yields the counts by word of each batch of an output that has any, in order. The map is used again.
func eachBatch(out, output string, yield func(batch int64, words map[string]int64) error) error {
	words, batch := map[string]int64{}, int64(-1)
	for row, err := range files.Read(out, files.ReadOptions{Output: output}) {
		if err != nil {
			return err
		}
		if row.Batch != batch {
			if batch >= 0 {
				if err := yield(batch, words); err != nil {
					return err
				}
			}
			clear(words)
			batch = row.Batch
		}
		word, count, _ := strings.Cut(string(row.Line), "\t")
		n, err := strconv.ParseInt(count, 10, 64)
		if _, twice := words[word]; err != nil || twice {
			return fmt.Errorf("%s: batch %d: row %q, seen in this batch %t", output, row.Batch, row.Line, twice)
		}
		words[word] = n
	}
	if batch < 0 {
		return nil
	}
	return yield(batch, words)
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

// checkWindows compares the windows with the sums of the counts whose batch times they reach back to.
func checkWindows(out string, times []int64, interval int64) error {
	counts := make([]map[string]int64, len(times))
	keep := func(batch int64, words map[string]int64) error {
		if batch >= int64(len(times)) {
			return fmt.Errorf("batch %d is in the sink, and not in the log", batch)
		}
		counts[batch] = maps.Clone(words)
		return nil
	}
	if err := eachBatch(out, "counts", keep); err != nil {
		return err
	}
	want := func(batch int64) map[string]int64 {
		sum := map[string]int64{}
		for b := batch; b >= 0 && times[b] > times[batch]-windowBatches*interval; b-- {
			for word, n := range counts[b] {
				sum[word] += n
			}
		}
		return sum
	}
	next := int64(0)
	err := eachBatch(out, "window", func(batch int64, words map[string]int64) error {
		for ; next < batch; next++ {
			if len(want(next)) > 0 {
				return fmt.Errorf("window of batch %d is not there", next)
			}
		}
		next++
		return compare(fmt.Sprintf("window of batch %d", batch), words, want(batch))
	})
	for ; err == nil && next < int64(len(times)); next++ {
		if len(want(next)) > 0 {
			err = fmt.Errorf("window of batch %d is not there", next)
		}
	}
	return err
}

// checkParts looks at each file of the sink: every output has every batch, each partition once, and nothing else is left.
func checkParts(out string, batches int64) error {
	type name struct {
		output    string
		batch     int64
		partition int
	}
	seen := map[name]bool{}
	report, err := files.VerifyParts(out, files.ReadOptions{}, func(p files.Part) error {
		n := name{p.Output, p.Batch, p.Partition}
		if seen[n] {
			return fmt.Errorf("%v is there twice", n)
		}
		seen[n] = true
		return nil
	})
	if err == nil {
		err = report.Err()
	}
	if err == nil && report.Batches != int64(len(outputs))*batches {
		err = fmt.Errorf("the sink has %d batches of %d outputs, the log has %d batches", report.Batches, report.Outputs, batches)
	}
	if left := slices.Concat(report.Garbage, report.Temporary, report.Unexpected); err == nil && len(left) > 0 {
		err = fmt.Errorf("%d files are left over, among them %s", len(left), left[0])
	}
	return err
}

// caughtUp waits until the sink shows so many words.
func (c *group) caughtUp(ctx context.Context, words int64) error {
	for {
		c.board.mu.Lock()
		changed := c.board.changed
		c.board.mu.Unlock()
		if err := c.countOn(); err != nil {
			return err
		}
		if c.counted >= words {
			return nil
		}
		select {
		case <-changed: // a batch was committed
		case <-ctx.Done():
			return fmt.Errorf("%d of %d words are counted: %w", c.counted, words, ctx.Err())
		}
	}
}

// countOn counts the words of the batches that have become visible since the last time.
func (c *group) countOn() error {
	for row, err := range files.Read(c.out(), files.ReadOptions{Output: "counts", From: c.next}) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // nothing was committed yet
		case err != nil:
			return err
		}
		_, count, _ := strings.Cut(string(row.Line), "\t")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return err
		}
		c.counted += n
		c.next = row.Batch + 1
	}
	return nil
}

// imprint returns a digest of what the sink shows of the last batches up to one.
func (c *group) imprint(upTo int64) ([sha256.Size]byte, error) {
	h := sha256.New()
	for row, err := range files.Read(c.out(), files.ReadOptions{From: max(upTo-2*between, 0)}) {
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		if row.Batch <= upTo {
			fmt.Fprintf(h, "%s %d %d %s\n", row.Output, row.Batch, row.Partition, row.Line)
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
