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
	k := newChecker(c.out(), c.batch.Milliseconds())
	k.times = h.times
	err = errors.Join(k.advance(h.batches-1), compare("sum of the batches", k.sums, c.text.counts), checkParts(c.out(), h.batches), c.ended())
	if err == nil && c.live != nil {
		err = c.stayed(k, h.batches)
	}
	builds, wrong := c.checkBuilds(h)
	err = errors.Join(err, wrong)
	if builds[secondBuild] > 0 {
		fmt.Fprintf(stdout, "%d batches with rows by the first build, %d by the second\n", builds[firstBuild], builds[secondBuild])
	}
	fmt.Fprintf(stdout, "%d batches of %d epochs, %d entries on %d nodes\n", h.batches, h.epochs, h.entries, len(c.members()))
	return err
}

// stayed compares what was seen of the batches when they were committed with what is there in the end.
func (c *group) stayed(end *checker, batches int64) error {
	if err := c.live.advance(batches - 1); err != nil {
		return err
	}
	if c.live.sum() != end.sum() {
		return errors.New("what the sink shows of a batch is not what it has shown when it was committed")
	}
	return nil
}

// out returns the folder of the sink.
func (c *group) out() string { return filepath.Join(c.dir, "out") }

func sortedWords(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }

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
