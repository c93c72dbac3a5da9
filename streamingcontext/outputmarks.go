package streamingcontext

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// An outputMark is the last batch in which a sink output has staged something: what its sink must have committed once the
// batch is.
type outputMark struct {
	output string
	id     int64
	digest [sha256.Size]byte // of what was staged
}

// marked returns marks after a batch in which outputs have staged something. Those of outputs that the program does not
// have any more stay, for it may have them again.
//
// Order: by output.
func marked(marks []outputMark, id int64, staged []stagedOutput) []outputMark {
	for _, s := range staged {
		m := outputMark{s.output, id, sha256.Sum256(s.bytes)}
		i, found := slices.BinarySearchFunc(marks, s.output, func(m outputMark, name string) int { return strings.Compare(m.output, name) })
		if found {
			marks[i] = m
		} else {
			marks = slices.Insert(marks, i, m)
		}
	}
	return marks
}

// without returns the marks of other outputs than those that have staged something.
func without(marks []outputMark, staged []stagedOutput) []outputMark {
	var left []outputMark
	for _, m := range marks {
		if !slices.ContainsFunc(staged, func(s stagedOutput) bool { return s.output == m.output }) {
			left = append(left, m)
		}
	}
	return left
}

// marksOf returns the marks after batch b, whose manifest is known.
func marksOf(b driverlog.Batch, get func(reference []byte) ([]byte, error)) ([]outputMark, error) {
	if len(b.Manifest) == 0 {
		return nil, nil
	}
	staged, marks, err := stagedOf(b.Manifest, get)
	if err != nil {
		return nil, err
	}
	return marked(marks, b.ID, staged), nil
}

func appendMarks(buf []byte, marks []outputMark) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(marks)))
	for _, m := range marks {
		buf = append(binary.AppendUvarint(buf, uint64(len(m.output))), m.output...)
		buf = binary.AppendUvarint(buf, uint64(m.id))
		buf = append(buf, m.digest[:]...)
	}
	return buf
}

// marks reads what appendMarks has written.
func (r *varintReader) marks() (marks []outputMark) {
	for n := r.number(); n > 0 && !r.bad; n-- {
		m := outputMark{output: string(r.bytes()), id: int64(r.number())}
		if len(r.rest) < len(m.digest) {
			r.bad = true
			return nil
		}
		r.rest = r.rest[copy(m.digest[:], r.rest):]
		marks = append(marks, m)
	}
	return marks
}
