package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink/files"
)

// A checker steps through what the sink shows, batch after batch, and compares it with the text. It goes on where it has stopped, so that it can
// follow the nodes; what it keeps does not grow with the batches.
type checker struct {
	out      string
	interval int64 // of the batches, in milliseconds
	// times are those of the batches in the log; nil where it is not whole. Then the sink says them.
	times []int64
	text  *reader // nil where the text is not compared file by file

	next    int64              // the batch that comes next
	sums    map[string]int64   // by word, of all batches before
	words   int64              // of all of them
	last    int64              // the time of the last one that has words
	recent  []shown            // counts of batches that windows may reach back to
	digests [3]hash.Hash       // of all rows before next, by output
	batches [3]map[int64]shown // those that were read and not checked, by output
}

// shown is what an output shows of a batch.
type shown struct {
	time  int64
	words map[string]int64
}

func newChecker(out string, interval int64) *checker {
	k := &checker{out: out, interval: interval, sums: map[string]int64{}}
	for i := range outputs {
		k.digests[i] = sha256.New()
	}
	return k
}

// atOnce is how many batches are in memory while they are checked.
const atOnce = 32

// advance checks all batches up to one, which must be committed.
func (k *checker) advance(upTo int64) error {
	for k.next <= upTo {
		end := min(k.next+atOnce, upTo+1)
		for i, output := range outputs {
			var err error
			if k.batches[i], err = gather(k.out, output, k.next, end, k.digests[i]); err != nil {
				return err
			}
		}
		for ; k.next < end; k.next++ {
			if err := k.batch(k.batches[0][k.next], k.batches[1][k.next], k.batches[2][k.next]); err != nil {
				return fmt.Errorf("batch %d: %w", k.next, err)
			}
		}
	}
	return nil
}

// gather returns what an output shows of the batches from one to before another, and adds their rows to a digest.
func gather(out, output string, from, end int64, digest hash.Hash) (map[int64]shown, error) {
	all := map[int64]shown{}
	for row, err := range files.Read(out, files.ReadOptions{Output: output, From: from}) {
		if err != nil {
			return nil, err
		}
		if row.Batch >= end {
			break
		}
		of, ok := all[row.Batch]
		if !ok {
			of = shown{row.Time, map[string]int64{}}
			all[row.Batch] = of
		}
		word, count, _ := strings.Cut(string(row.Line), "\t")
		n, err := strconv.ParseInt(count, 10, 64)
		if _, twice := of.words[word]; err != nil || twice {
			return nil, fmt.Errorf("%s: batch %d: row %q, seen in this batch %t", output, row.Batch, row.Line, twice)
		}
		of.words[word] = n
		fmt.Fprintf(digest, "%d %d %d %s\n", row.Batch, row.Time, row.Partition, row.Line)
	}
	return all, nil
}

// batch compares what the outputs show of the next batch with each other and with the text.
func (k *checker) batch(counts, totals, window shown) error {
	now, known, err := k.timeOf(counts, totals, window)
	if err != nil {
		return err
	}
	for word, n := range counts.words {
		k.sums[word] += n
		k.words += n
	}
	if err := compare("running totals", totals.words, k.sums); err != nil {
		return err
	}
	if len(counts.words) > 0 {
		k.recent = append(k.recent, shown{now, counts.words})
	}
	if known { // else it has no rows at all, and nobody says what its window is
		for len(k.recent) > 0 && k.recent[0].time <= now-windowBatches*k.interval {
			k.recent = k.recent[1:]
		}
		want := map[string]int64{}
		for _, one := range k.recent {
			for word, n := range one.words {
				want[word] += n
			}
		}
		if err := compare("window", window.words, want); err != nil {
			return err
		}
	}
	if k.text == nil {
		return nil
	}
	return k.text.compare(k.next, counts.words)
}

// timeOf returns the time of the next batch, on which all must agree, and whether anybody says it.
func (k *checker) timeOf(all ...shown) (now int64, known bool, err error) {
	if k.next < int64(len(k.times)) {
		now, known = k.times[k.next], true
	} else if k.times != nil {
		return 0, false, errors.New("it is not in the log")
	}
	for _, of := range all {
		switch {
		case of.words == nil:
		case known && of.time != now:
			return 0, false, fmt.Errorf("its times are %d and %d", now, of.time)
		default:
			now, known = of.time, true
		}
	}
	if known && now <= k.last {
		return 0, false, fmt.Errorf("its time is %d, that of one before it is %d", now, k.last)
	}
	if known {
		k.last = now
	}
	return now, known, nil
}

// sum returns a digest of all rows that were checked.
func (k *checker) sum() (sum [3][sha256.Size]byte) {
	for i := range outputs {
		sum[i] = [sha256.Size]byte(k.digests[i].Sum(nil))
	}
	return sum
}

// compare says where got differs from want.
func compare(what string, got, want map[string]int64) error {
	if maps.Equal(got, want) {
		return nil
	}
	if len(got) == 0 {
		return fmt.Errorf("%s: nothing is there, the text has %d words", what, len(want))
	}
	for _, word := range sortedWords(want) {
		if got[word] != want[word] {
			return fmt.Errorf("%s: %s has %d, the text %d", what, word, got[word], want[word])
		}
	}
	return fmt.Errorf("%s: %d words, the text has %d", what, len(got), len(want))
}

// A reader counts the words of the text's files plainly, and compares them with batches.
//
// A batch has whole files, in the order in which they have appeared. So at the end of a batch the sink shows what so many files have. It is
// asked for at one of several batches only: which file comes first is not promised to the last millisecond.
type reader struct {
	in        string
	file      int // that comes next
	oldest    int // that is still there
	ahead     int64
	got, want map[string]int64 // of batches and of files since they were last equal
	equal     int64            // the batch at whose end they were
}

// unequal is how many batches may end in the middle of a file, one after another.
const unequal = 10

func newReader(in string) *reader {
	return &reader{in: in, got: map[string]int64{}, want: map[string]int64{}, equal: -1}
}

// compare takes note of what a batch has.
func (r *reader) compare(batch int64, words map[string]int64) error {
	for word, n := range words {
		r.got[word] += n
		r.ahead -= n
	}
	for r.ahead < 0 {
		data, err := os.ReadFile(r.name(r.file))
		if err != nil {
			return fmt.Errorf("the sink shows %d words more than the text has in %d files: %w", -r.ahead, r.file, err)
		}
		for word := range strings.FieldsSeq(string(data)) {
			r.want[word]++
			r.ahead++
		}
		r.file++
	}
	switch {
	case r.ahead > 0 && batch-r.equal > unequal:
		return fmt.Errorf("since batch %d the batches hold no whole files, the last is %d", r.equal, r.file-1)
	case r.ahead > 0:
		return nil
	}
	if err := compare(fmt.Sprintf("batches %d to %d", r.equal+1, batch), r.got, r.want); err != nil {
		return err
	}
	clear(r.got)
	clear(r.want)
	r.equal = batch
	return nil
}

// forget removes the files that were compared, but for the last ones.
func (r *reader) forget(but int) error {
	for ; r.oldest < r.file-but; r.oldest++ {
		if err := os.Remove(r.name(r.oldest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// there returns how many files are there that were compared.
func (r *reader) there() int { return r.file - r.oldest }

func (r *reader) name(file int) string { return filepath.Join(r.in, fileName(file)) }
