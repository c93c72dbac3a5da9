package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// A Mark is the last batch in which a sink output has staged something: what its sink must have committed once the batch is.
type Mark struct {
	Output string
	ID     int64
	Digest [sha256.Size]byte // of what was staged
}

// Marked returns marks after a batch in which outputs have staged something. Those of outputs that the program does not
// have any more stay, for it may have them again.
//
// Order: by output.
func Marked(marks []Mark, id int64, staged []Staged) []Mark {
	for _, s := range staged {
		m := Mark{s.Output, id, sha256.Sum256(s.Bytes)}
		i, found := slices.BinarySearchFunc(marks, s.Output, func(m Mark, name string) int { return strings.Compare(m.Output, name) })
		if found {
			marks[i] = m
		} else {
			marks = slices.Insert(marks, i, m)
		}
	}
	return marks
}

// without returns the marks of other outputs than those that have staged something.
func without(marks []Mark, staged []Staged) []Mark {
	var left []Mark
	for _, m := range marks {
		if !slices.ContainsFunc(staged, func(s Staged) bool { return s.Output == m.Output }) {
			left = append(left, m)
		}
	}
	return left
}

func appendMarks(buf []byte, marks []Mark) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(marks)))
	for _, m := range marks {
		buf = append(binary.AppendUvarint(buf, uint64(len(m.Output))), m.Output...)
		buf = binary.AppendUvarint(buf, uint64(m.ID))
		buf = append(buf, m.Digest[:]...)
	}
	return buf
}

// marks reads what appendMarks has written.
func (r *reader) marks() (marks []Mark) {
	for n := r.number(); n > 0 && !r.bad; n-- {
		m := Mark{Output: string(r.bytes()), ID: int64(r.number())}
		if len(r.rest) < len(m.Digest) {
			r.bad = true
			return nil
		}
		r.rest = r.rest[copy(m.Digest[:], r.rest):]
		marks = append(marks, m)
	}
	return marks
}
