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

// A wordPair is a word and how often it was seen.
type wordPair = rdd.Pair[string, int64]

// measureWordCount measures word count on each number of cores, and the largest against the first.
func measureWordCount(ctx context.Context, s *suite, r row, in textInput) (err error) {
	var subjects []subject
	for _, cores := range s.cores {
		e, err := newEngine(cores)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.close()) }()
		plain, best := countWords(e, in, cores, plainCounts), countWords(e, in, cores, bestCounts)
		subjects = append(subjects, plain, best, naiveCount(in, cores), carefulCount(in, cores))
	}
	m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	const each = 4 // subjects on each number of cores
	for i := 0; i < len(m); i += each {
		plain, best, naive, careful := m[i], m[i+1], m[i+2], m[i+3]
		r.variant = "wordcount, flatMap map reduceByKey"
		s.table.add(compare(r, plain, naive, cpuOf, atLeast(1.6, 2)))
		r.variant = "wordcount, flatMapAppend Counts"
		s.table.add(compare(r, best, naive, cpuOf, atLeast(2.2, 3)))
		s.table.add(gain(r, best, careful, cpuOf, floor{}))
	}
	if last := len(m) - each; last > 0 && s.cores[0] == 1 && s.cores[len(s.cores)-1] == 2 {
		for i, name := range []string{"wordcount, flatMap map reduceByKey, wall", "wordcount, flatMapAppend Counts, wall"} {
			r.variant = name
			one := m[i]
			one.name = "same on 1 core"
			s.table.add(compare(r, m[last+i], one, wallOf, atLeast(1.7, 1.9)))
		}
	}
	return nil
}

// countWords is a subject that counts the words of the file with leat.
func countWords(e *engine, in textInput, cores int, count func(*rdd.RDD[string]) *rdd.RDD[wordPair]) subject {
	var pairs []wordPair
	return subject{
		name: "leat", procs: cores,
		work: func(ctx context.Context) (err error) {
			lines := rdd.TextFile(e.fresh(), in.path, cores)
			pairs, err = count(lines).Collect(ctx)
			return err
		},
		check: func() error {
			counts := make([]workload.WordCount, len(pairs))
			for i, p := range pairs {
				counts[i] = workload.WordCount{Word: p.Key, Count: p.Value}
			}
			pairs = nil
			return in.checkCounts(counts)
		},
	}
}

// plainCounts is word count as every introduction has it.
func plainCounts(lines *rdd.RDD[string]) *rdd.RDD[wordPair] {
	words := rdd.FlatMap(lines, strings.Fields)
	ones := rdd.Map(words, func(w string) wordPair { return wordPair{Key: w, Value: 1} })
	return rdd.ReduceByKey(ones, add)
}

// bestCounts is word count with what the API offers for speed.
func bestCounts(lines *rdd.RDD[string]) *rdd.RDD[wordPair] {
	return rdd.Counts(rdd.FlatMapAppend(lines, appendWords))
}

// appendWords appends the words of a line, which end at spaces.
func appendWords(line string, words []string) []string {
	start := 0
	for i := 0; i < len(line); i++ {
		if line[i] == ' ' {
			if i > start {
				words = append(words, line[start:i])
			}
			start = i + 1
		}
	}
	if start < len(line) {
		words = append(words, line[start:])
	}
	return words
}

// naiveCount is word count as a Go programmer writes it first.
func naiveCount(in textInput, cores int) subject {
	var counts map[string]int64
	return subject{
		name: "WordCount", procs: cores,
		work: func(context.Context) error {
			f, err := os.Open(in.path)
			if err != nil {
				return err
			}
			counts, err = peer.WordCount(f)
			return errors.Join(err, f.Close())
		},
		check: func() error { return in.checkCounts(workload.SortedCounts(counts)) },
	}
}

// carefulCount is word count by somebody who has read a profile.
func carefulCount(in textInput, cores int) subject {
	var counts map[string]int64
	return subject{
		name: "WordCountBytes", procs: cores,
		work: func(context.Context) error {
			data, err := os.ReadFile(in.path)
			if err != nil {
				return err
			}
			counts = peer.WordCountBytes(data)
			return nil
		},
		check: func() error { return in.checkCounts(workload.SortedCounts(counts)) },
	}
}

func (in textInput) checkCounts(counts []workload.WordCount) error {
	if got := workload.SummarizeCounts(counts); got != in.want.Counts {
		return fmt.Errorf("got %+v, want %+v", got, in.want.Counts)
	}
	return nil
}
