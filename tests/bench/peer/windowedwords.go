package peer

import (
	"strings"

	"github.com/leat-io/leat/tests/bench/workload"
)

// WindowedWords counts the words of the last batches as a Go programmer writes it first: a map for each batch, all of
// which are merged anew at each slide.
type WindowedWords struct {
	length  int
	batches []map[string]int64
}

// NewWindowedWords returns an empty window of length batches.
func NewWindowedWords(length int) *WindowedWords { return &WindowedWords{length: length} }

// Slide adds a batch, drops the one that leaves and returns the window's counts.
//
// Cost: a map for the window, and a look-up for each different word of each batch in it.
func (w *WindowedWords) Slide(lines []string) map[string]int64 {
	counts := make(map[string]int64)
	for _, line := range lines {
		for _, word := range strings.Fields(line) {
			counts[word]++
		}
	}
	w.batches = append(w.batches, counts)
	if len(w.batches) > w.length {
		w.batches = w.batches[1:]
	}
	window := make(map[string]int64)
	for _, batch := range w.batches {
		for word, n := range batch {
			window[word] += n
		}
	}
	return window
}

// Top returns the n largest counts, the largest first, equal ones by word.
func Top(counts map[string]int64, n int) []workload.WordCount {
	all := workload.SortedCounts(counts)
	return all[:min(n, len(all))]
}
