package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink/files"
)

// answer is what the sink shows.
type answer struct {
	batches, rows, words int64
}

// batchCounts are the counts of one batch.
type batchCounts map[string]int64

// check compares what the sink shows with the text, and what the last program printed.
func check(o options, text map[string]int64, last string) (answer, error) {
	var a answer
	byBatch, err := read(o, "counts", &a)
	if err != nil {
		return a, err
	}
	sums := batchCounts{}
	for _, b := range byBatch {
		for word, n := range b {
			sums[word] += n
			a.words += n
		}
	}
	a.batches = int64(len(byBatch))
	var errs []error
	errs = append(errs, compare("sum of the batches", sums, text))
	if fields := strings.Split(strings.TrimSpace(last), "\t"); len(fields) != 3 || fields[0] != "total" || fields[1] != strconv.FormatInt(a.words, 10) {
		errs = append(errs, fmt.Errorf("the program printed %q, the sink has %d words", last, a.words))
	}
	report, err := files.Verify(filepath.Join(o.dir, "out"))
	if err == nil {
		err = report.Err()
	}
	errs = append(errs, err)
	if o.windows {
		errs = append(errs, checkWindows(o, byBatch))
	}
	return a, errors.Join(errs...)
}

// read returns the counts of an output by batch id, each batch, partition and word once.
func read(o options, output string, a *answer) ([]batchCounts, error) {
	var byBatch []batchCounts
	type place struct{ batch, part int64 }
	var last place
	for row, err := range files.Read(filepath.Join(o.dir, "out"), files.ReadOptions{Output: output}) {
		if err != nil {
			return nil, err
		}
		at := place{row.Batch, int64(row.Partition)}
		if at.batch < last.batch || at.batch == last.batch && at.part < last.part {
			return nil, fmt.Errorf("%s: batch %d partition %d comes after batch %d partition %d", output, at.batch, at.part, last.batch, last.part)
		}
		last = at
		for int64(len(byBatch)) <= row.Batch {
			byBatch = append(byBatch, batchCounts{})
		}
		word, count, _ := strings.Cut(string(row.Line), "\t")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: batch %d: row %q", output, row.Batch, row.Line)
		}
		if _, twice := byBatch[row.Batch][word]; twice {
			return nil, fmt.Errorf("%s: batch %d has %q twice", output, row.Batch, word)
		}
		byBatch[row.Batch][word] = n
		a.rows++
	}
	return byBatch, nil
}

// windowBatches is how many batches the program's window has.
const windowBatches = 5

// checkWindows compares the rows of the window and of the function with state with what the batches say.
func checkWindows(o options, byBatch []batchCounts) error {
	var ignored answer
	window, err := read(o, "window", &ignored)
	if err != nil {
		return err
	}
	seen, err := read(o, "seen", &ignored)
	if err != nil {
		return err
	}
	times := batchCounts{}
	for b := range byBatch {
		want := batchCounts{}
		for _, earlier := range byBatch[max(0, b-windowBatches+1) : b+1] {
			for word, n := range earlier {
				want[word] += n
			}
		}
		if err := compare(fmt.Sprintf("window of batch %d", b), at(window, b), want); err != nil {
			return err
		}
		now := batchCounts{}
		for word := range byBatch[b] {
			times[word]++
			now[word] = times[word]
		}
		if err := compare(fmt.Sprintf("state after batch %d", b), at(seen, b), now); err != nil {
			return err
		}
	}
	return nil
}

func at(all []batchCounts, b int) batchCounts {
	if b >= len(all) {
		return nil // no rows behind the last batch with some
	}
	return all[b]
}

// compare returns what differs first, by word, between counts.
func compare(what string, got batchCounts, want map[string]int64) error {
	differ, example := 0, ""
	note := func(word string) {
		if differ++; example == "" || word < example {
			example = word
		}
	}
	for word, n := range want {
		if got[word] != n {
			note(word)
		}
	}
	for word := range got {
		if _, ok := want[word]; !ok {
			note(word)
		}
	}
	if differ == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d words differ: %q is %d, want %d", what, differ, example, got[example], want[example])
}
