package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/workload"
)

// topWords is how many words of a window are looked for.
const topWords = 100

// wordWindow is the windowed word count in one of its forms.
type wordWindow struct {
	*pump
	lines [][]string // by batch
	top   []wordPair // of the last batch
}

// The forms of the windowed word count.
var wordWindows = []struct {
	name    string
	declare func(words *dstream.DStream[string], window time.Duration) *dstream.DStream[wordPair]
}{
	{"inverse", func(words *dstream.DStream[string], window time.Duration) *dstream.DStream[wordPair] {
		return dstream.CountByValueAndWindow(words, window, 0)
	}},
	{"no inverse", func(words *dstream.DStream[string], window time.Duration) *dstream.DStream[wordPair] {
		return dstream.ReduceByKeyAndWindow(dstream.CountByValue(words), add, nil, window, 0)
	}},
	{"recomputed", func(words *dstream.DStream[string], window time.Duration) *dstream.DStream[wordPair] {
		return dstream.CountByValue(dstream.Window(words, window, 0))
	}},
}

// measureWordWindows measures the hundred most frequent words of the last thirty batches.
func measureWordWindows(ctx context.Context, s *suite, r row) (err error) {
	cores := s.cores[0]
	want := workload.TextWindowWant()
	length := want.Last - want.First + 1
	lines, err := textBatches(s.size)
	if err != nil {
		return err
	}
	slides, rounds := 10, 3
	if s.size < workload.S {
		slides, rounds = 1, 1
	}
	// One slide warms up, and three rounds of ten end with the batch whose answer is known.
	before := length - 1
	if s.size >= workload.M {
		before = want.Last - rounds*slides
	}
	var subjects []subject
	for _, form := range wordWindows {
		w := &wordWindow{lines: lines}
		w.pump, err = newPump(cores, s.dir, func(g *dstream.Graph) {
			in := dstream.NewInput(g, "feed", "Lines", dstream.Input[string](newFeed(lines, cores)))
			words := dstream.FlatMapAppend(in, appendWords)
			window := form.declare(words, time.Duration(length)*batchInterval)
			dstream.ForeachRDD(window, func(ctx context.Context, r *rdd.RDD[wordPair], _ dstream.Time) (err error) {
				w.top, err = rdd.TopFunc(ctx, r, topWords, moreFrequent)
				return err
			})
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		for range before {
			if err := w.batch(ctx); err != nil {
				return err
			}
		}
		subjects = append(subjects, subject{name: form.name, procs: cores, passes: slides, work: w.batch, check: func() error {
			return w.check(length, s.size)
		}})
	}
	m, err := interleave(ctx, rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	r.records = 1
	for _, form := range m[:2] {
		r.variant = "windowed count, top 100, " + form.name
		row := gain(r, form, m[2], cpuOf, floor{})
		row.records, row.note = len(lines[0]), fmt.Sprintf("cost is of a slide; ratio is peer/row; %d slides a round; W=%d", slides, length)
		s.table.add(row)
	}
	return nil
}

// moreFrequent orders by count, and of equal counts the word that comes first in the alphabet last.
func moreFrequent(a, b wordPair) int {
	return cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(b.Key, a.Key))
}

// textBatches is the lines of a size, by batch.
func textBatches(size workload.Size) ([][]string, error) {
	var text bytes.Buffer
	if err := workload.WriteText(&text, workload.DefaultSeed, 0, size.Records()); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	var batches [][]string
	for len(lines) > 0 {
		n := min(workload.TextPerSecond, len(lines))
		batches, lines = append(batches, lines[:n]), lines[n:]
	}
	return batches, nil
}

// check recounts the window, and compares it with the known answer where there is one.
func (w *wordWindow) check(length int, size workload.Size) error {
	counts := make(map[string]int64)
	last := w.last()
	for b := max(0, last-length+1); b <= last; b++ {
		for _, line := range w.lines[b%len(w.lines)] {
			for _, word := range strings.Fields(line) {
				counts[word]++
			}
		}
	}
	sorted := workload.SortedCounts(counts)
	if len(w.top) != topWords {
		return fmt.Errorf("got %d words, want %d", len(w.top), topWords)
	}
	for i, p := range w.top {
		if got := (workload.WordCount{Word: p.Key, Count: p.Value}); got != sorted[i] {
			return fmt.Errorf("batch %d: word %d is %+v, want %+v", last, i+1, got, sorted[i])
		}
	}
	want := workload.TextWindowWant()
	if last != want.Last || size < workload.M {
		return nil
	}
	if got := workload.SummarizeCounts(sorted); got != want.Counts || sorted[topWords-1] != want.Hundredth {
		return fmt.Errorf("batch %d: recounted %+v and %+v, want %+v", last, got, sorted[topWords-1], want)
	}
	return nil
}
