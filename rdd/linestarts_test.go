package rdd

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// The place of each line is where it is in the text, whatever its end and wherever the text is cut.
func TestLineReaderTracksPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r")), 0, 60, -1).Draw(t, "text")
		if rapid.Bool().Draw(t, "many") {
			text = strings.Repeat(text, 100)
		}
		from := int64(rapid.IntRange(0, len(text)).Draw(t, "from"))
		to := int64(rapid.IntRange(int(from), len(text)).Draw(t, "to"))
		r := splitReader(strings.NewReader(text), from, to)
		if rapid.Bool().Draw(t, "halves") {
			r.src = iotest.HalfReader(r.src)
		}
		r.track = true
		for {
			lines, err := r.next(nil)
			if len(lines) != len(r.starts) {
				t.Fatalf("%d lines, %d places", len(lines), len(r.starts))
			}
			for i, line := range lines {
				at := r.starts[i]
				if at < from || at >= to && to > from || !strings.HasPrefix(text[at:], line) {
					t.Fatalf("line %q is said to be at %d of %q", line, at, text)
				}
				if at > 0 && text[at-1] != '\n' && text[at-1] != '\r' {
					t.Fatalf("no line begins at %d of %q", at, text)
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
