package rdd

import "slices"

// fewItems is how many items are sorted by comparing them.
const fewItems = 128

// histogram counts the values of each byte of some words.
type histogram [8][256]uint32

func (h *histogram) add(word uint64) {
	h[0][byte(word)]++
	h[1][byte(word>>8)]++
	h[2][byte(word>>16)]++
	h[3][byte(word>>24)]++
	h[4][byte(word>>32)]++
	h[5][byte(word>>40)]++
	h[6][byte(word>>48)]++
	h[7][byte(word>>56)]++
}

// starts turns the counts of one byte into where each of its values begins among n, or returns false if all words
// agree in it.
func (h *histogram) starts(digit int, n int, sample uint64) bool {
	counts := &h[digit]
	if int(counts[byte(sample>>(8*digit))]) == n {
		return false
	}
	at := uint32(0)
	for i, c := range counts {
		counts[i] = at
		at += c
	}
	return true
}

// sortWords sorts words, least byte first; it uses other, of the same length, and returns the one of the two that
// holds the result.
//
// Source: Knuth, "The Art of Computer Programming", volume 3, section "Sorting by Distribution".
func sortWords(words, other []uint64) []uint64 {
	if len(words) <= fewItems || len(words) >= 1<<32 {
		slices.Sort(words)
		return words
	}
	var h histogram
	for _, w := range words {
		h.add(w)
	}
	for digit := range 8 {
		if !h.starts(digit, len(words), words[0]) {
			continue
		}
		next, shift := &h[digit], uint(8*digit)
		other = other[:len(words)]
		for _, w := range words {
			b := byte(w >> (shift & 63))
			other[next[b]] = w
			next[b]++
		}
		words, other = other, words
	}
	return words
}

// sortRanked is sortWords for ranked rows; equal ranks stay in the order they came.
func sortRanked(items, other []ranked) []ranked {
	if len(items) <= fewItems || len(items) >= 1<<32 {
		slices.SortStableFunc(items, func(a, b ranked) int {
			switch {
			case a.rank < b.rank:
				return -1
			case a.rank > b.rank:
				return 1
			}
			return 0
		})
		return items
	}
	var h histogram
	for i := range items {
		h.add(items[i].rank)
	}
	for digit := range 8 {
		if !h.starts(digit, len(items), items[0].rank) {
			continue
		}
		next, shift := &h[digit], uint(8*digit)
		other = other[:len(items)]
		for _, item := range items {
			b := byte(item.rank >> (shift & 63))
			other[next[b]] = item
			next[b]++
		}
		items, other = other, items
	}
	return items
}
