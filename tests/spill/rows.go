package main

import (
	"math/bits"
	"strings"

	"github.com/leat-io/leat/tests/bench/workload"
)

// rows makes the rows of all jobs by their number.
type rows struct {
	words   *workload.Dictionary
	letters *workload.Letters
	draws   workload.Stream
}

func newRows() *rows {
	return &rows{words: workload.NewDictionary(42), letters: workload.NewLetters(42), draws: workload.NewStream(42, 6)}
}

// payload returns n letters of row i, in memory of their own as rows that were read would be.
func (r *rows) payload(i int64, n int) string {
	return strings.Clone(r.letters.Str(r.draws.U(uint64(i), 1), n))
}

// wordsALine is how many words a line has: the last is one of many, the others are of the dictionary.
const wordsALine = 10

// appendWords appends the words of a line. rare is how many different last words there are.
func (r *rows) appendWords(dst []string, i, rare int64) []string {
	for j := range uint64(wordsALine - 1) {
		x := r.draws.U(uint64(i), 2+j)
		// The product of two draws is small more often than large.
		k := workload.Below(x, workload.Below(workload.Mix(x), uint64(r.words.Len()))+1)
		dst = append(dst, r.words.Word(int(k)))
	}
	return append(dst, rareWord(r.rare(i, rare)))
}

// rare is the number of the last word of line i.
func (r *rows) rare(i, rare int64) int64 {
	return int64(workload.Below(r.draws.U(uint64(i), 0), uint64(rare)))
}

// rareWord is "r" and the number in ten digits.
func rareWord(k int64) string {
	word := [11]byte{0: 'r'}
	for d := 10; d > 0; d-- {
		word[d] = byte('0' + k%10)
		k /= 10
	}
	return string(word[:])
}

// digest is a fixed hash of text.
func digest(s string) uint64 {
	h := uint64(len(s))
	for len(s) >= 8 {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = workload.Mix(h ^ w)
		s = s[8:]
	}
	for i := range len(s) {
		h = bits.RotateLeft64(h, 8) ^ uint64(s[i])
	}
	return workload.Mix(h)
}

// bitmap is a set of numbers from 0.
type bitmap []uint64

func newBitmap(n int64) bitmap { return make(bitmap, (n+63)/64) }

// add adds k and reports whether it was new.
func (b bitmap) add(k int64) bool {
	bit := uint64(1) << (k % 64)
	fresh := b[k/64]&bit == 0
	b[k/64] |= bit
	return fresh
}

func (b bitmap) len() int64 {
	var n int
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}
