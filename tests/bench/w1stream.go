package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// measureWindowedText measures a windowed count of the whole text from its first batch to its last, with the hundred most
// frequent words of every window, against counting the same text once and against a plain program that does the same.
func measureWindowedText(ctx context.Context, s *suite, r row) (err error) {
	cores := s.cores[0]
	lines, err := textBatches(s.size)
	if err != nil {
		return err
	}
	answer := workload.TextWindowWant()
	length := answer.Last - answer.First + 1
	e, err := newEngine(cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()

	w := &wordWindow{lines: lines}
	windowed := subject{name: "leat", procs: cores, passes: 1,
		work: func(ctx context.Context) (err error) {
			if w.pump, err = w.declare(cores, length, s.dir); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.close()) }()
			for range lines {
				if err := w.batch(ctx); err != nil {
					return err
				}
			}
			return nil
		},
		check: func() error { return w.check(length, s.size) },
	}
	var top []wordPair
	all := slices.Concat(lines...)
	once := subject{name: "one count of all", procs: cores, passes: 1,
		work: func(ctx context.Context) (err error) {
			in := rdd.FromBlocks(e.fresh(), newFeed([][]string{all}, cores).batches[0])
			top, err = rdd.TopFunc(ctx, rdd.Counts(rdd.FlatMapAppend(in, appendWords)), topWords, moreFrequent)
			return err
		},
		check: func() error {
			if want, ok := workload.TextWant(s.size); !ok || top[0] != (wordPair{Key: want.Counts.Top[0].Word, Value: want.Counts.Top[0].Count}) {
				return fmt.Errorf("the most frequent word is %v, want %v", top[0], want.Counts.Top[0])
			}
			return nil
		},
	}
	var tops []workload.WordCount
	naive := subject{name: "WindowedWords", procs: cores, passes: 1,
		work: func(context.Context) error {
			window := peer.NewWindowedWords(length)
			for _, batch := range lines {
				tops = peer.Top(window.Slide(batch), topWords)
			}
			return nil
		},
		check: func() error {
			for i, p := range w.top {
				if tops[i] != (workload.WordCount{Word: p.Key, Count: p.Value}) {
					return fmt.Errorf("word %d is %v, leat has %v", i+1, tops[i], p)
				}
			}
			return nil
		},
	}
	m, err := interleave(ctx, min(s.rounds, 3), s.minRound, windowed, once, naive)
	if err != nil {
		return err
	}
	r.variant = fmt.Sprintf("windowed count of it all, W=%d, inverse", length)
	s.table.add(compare(r, m[0], m[1], cpuOf, atMost(3, 2)))
	s.table.add(compare(r, m[0], m[2], cpuOf, atLeast(10, 20)))
	return nil
}

// declare declares the windowed count with an inverse.
func (w *wordWindow) declare(cores, length int, dir string) (*pump, error) {
	return newPump(cores, dir, func(g *dstream.Graph) {
		in := dstream.NewInput(g, "feed", "Lines", dstream.Input[string](newFeed(w.lines, cores)))
		words := dstream.FlatMapAppend(in, appendWords)
		window := dstream.CountByValueAndWindow(words, time.Duration(length)*batchInterval, 0)
		dstream.ForeachRDD(window, func(ctx context.Context, r *rdd.RDD[wordPair], _ dstream.Time) (err error) {
			w.top, err = rdd.TopFunc(ctx, r, topWords, moreFrequent)
			return err
		})
	})
}
