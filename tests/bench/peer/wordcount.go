package peer

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// lineBuffer is the longest line a scanner here takes, and the size of its reads.
const lineBuffer = 1 << 20

// newScanner returns a scanner over the lines of r.
func newScanner(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, lineBuffer), lineBuffer)
	return lines
}

// WordCount returns how often each word of r occurs: lines from a scanner, strings.Fields, one map.
//
// Cost: a string for each line and a slice of its words; a map look-up for each word.
// Errors: what r reports, or bufio.ErrTooLong for a line of 1 MB or more, wrapped.
func WordCount(r io.Reader) (map[string]int64, error) {
	counts := make(map[string]int64)
	lines := newScanner(r)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			counts[word]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("count words: %w", err)
	}
	return counts, nil
}

// WordCountBytes returns how often each word of data occurs, with care taken: no string is made
// but for a new word, and a word that is known costs one map look-up and no assignment.
//
// Shape: words end at a space or a line feed, and nowhere else.
func WordCountBytes(data []byte) map[string]int64 {
	at := make(map[string]int32)
	var counts []int64
	for start := 0; start < len(data); {
		end := start
		for end < len(data) && data[end] != ' ' && data[end] != '\n' {
			end++
		}
		if end > start {
			word := data[start:end]
			slot, ok := at[string(word)] // the compiler makes no string for this
			if !ok {
				slot = int32(len(counts))
				counts = append(counts, 0)
				at[string(word)] = slot
			}
			counts[slot]++
		}
		start = end + 1
	}
	result := make(map[string]int64, len(at))
	for word, slot := range at {
		result[word] = counts[slot]
	}
	return result
}
