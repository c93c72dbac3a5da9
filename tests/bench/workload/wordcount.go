package workload

import (
	"cmp"
	"slices"
)

// A WordCount is a word and how often it occurs.
type WordCount struct {
	Word  string
	Count int64
}

// WordsAnswer is what the counts of all words look like.
type WordsAnswer struct {
	Words    int64        // words in all
	Distinct int          // different words
	Top      [5]WordCount // the most frequent words, descending; empty if there are fewer
}

// SortedCounts returns counts as a list, the most frequent word first, ties by word ascending.
//
// Cost: a list and a sort of all words; for checking an answer, not for finding it.
func SortedCounts(counts map[string]int64) []WordCount {
	list := make([]WordCount, 0, len(counts))
	for word, n := range counts {
		list = append(list, WordCount{Word: word, Count: n})
	}
	sortCounts(list)
	return list
}

// SummarizeCounts returns what counts look like. Their order does not matter, and is left as it is.
//
// Shape: each word at most once.
func SummarizeCounts(counts []WordCount) WordsAnswer {
	a := WordsAnswer{Distinct: len(counts)}
	for _, c := range counts {
		a.Words += c.Count
	}
	sorted := slices.Clone(counts)
	sortCounts(sorted)
	copy(a.Top[:], sorted)
	return a
}

// sortCounts leaves no two words tied, so the order does not depend on the order before.
func sortCounts(list []WordCount) {
	slices.SortFunc(list, func(a, b WordCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word))
	})
}
