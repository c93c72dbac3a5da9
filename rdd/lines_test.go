package rdd

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// linesOf is what a reader must give: a plain state machine over bytes.
func linesOf(text string) []string {
	lines := []string{}
	for text != "" {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			return append(lines, text)
		}
		lines = append(lines, text[:end])
		if strings.HasPrefix(text[end:], "\r\n") {
			end++
		}
		text = text[end+1:]
	}
	return lines
}

// readAll reads a lineReader to its end.
func readAll(r *lineReader) ([]string, error) {
	all := []string{}
	for {
		chunk, err := r.next(nil)
		all = append(all, chunk...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer+7)
	atBorder := strings.Repeat("x", lineBuffer-1)
	for _, x := range []struct{ name, text string }{
		{"empty", ""},
		{"one line end", "\n"},
		{"no last line end", "a\nb"},
		{"empty lines", "\n\na\n\n"},
		{"CRLF", "a\r\nb\r\n\r\nc"},
		{"lone CR", "a\rb\r\rc\r"},
		{"mixed", "a\r\n\rb\n\r\nc\n\r"},
		{"CR LF over the buffer's border", atBorder + "\r\nb\r\n"},
		{"lone CR at the buffer's border", atBorder + "\rb\nc"},
		{"CR at the buffer's border and the end", atBorder + "\r"},
		{"LF at the buffer's border", atBorder + "\nb"},
		{"end at the buffer's border", atBorder + "x"},
		{"longer than the buffer", "a\n" + long + "\nb\n" + long},
		{"longer than the buffer, CR", "a\r" + long + "\rb\r\n" + long + "\r"},
		{"no UTF-8", "\xff\xfe\n\x80\r\n\xc3\x28"},
		{"CR after many plain lines", strings.Repeat("line\n", 200_000) + "a\rb\r\nc"},
	} {
		t.Run(x.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"whole": strings.NewReader(x.text), "halves": iotest.HalfReader(strings.NewReader(x.text)),
				"with the error": iotest.DataErrReader(strings.NewReader(x.text)),
			} {
				got, err := readAll(&lineReader{src: src, limit: -1})
				if err != nil {
					t.Fatal(err)
				}
				same(t, name, got, linesOf(x.text))
			}
		})
	}
	t.Run("a failing source", func(t *testing.T) {
		bad := errors.New("disk")
		got, err := readAll(&lineReader{src: io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(bad)), limit: -1})
		wantErr(t, "read", err, bad)
		same(t, "lines before it", got, []string{"a"})
	})
}

// inSplits reads text in splits that begin at the cuts, one behind the other.
func inSplits(text string, cuts ...int) ([]string, error) {
	all := []string{}
	for i, from := range cuts {
		to := len(text)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		lines, err := readAll(splitReader(strings.NewReader(text), int64(from), int64(to)))
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}

// However a text is cut into splits, they hold exactly its lines.
func TestSplits(t *testing.T) {
	t.Run("every cut in two and three", func(t *testing.T) {
		for _, text := range []string{"a\nbb\n\nccc", "a\r\nbb\r\n\r\nccc\r\n", "a\rbb\r\rccc\r", "\n\r\n\r\r\n\n", "no end", "\r", "a\n\rb\r\n"} {
			want := linesOf(text)
			for i := 1; i < len(text); i++ {
				got, err := inSplits(text, 0, i)
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprintf("%q cut at %d", text, i), got, want)
				for j := i + 1; j < len(text); j++ {
					got, err := inSplits(text, 0, i, j)
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprintf("%q cut at %d and %d", text, i, j), got, want)
				}
			}
		}
	})
	t.Run("random texts", rapid.MakeCheck(func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\n", "\r", "\r\n", "a", "bb", "\xff", "längere Zeile"})).Draw(t, "text"), "")
		if text == "" {
			return
		}
		want := linesOf(text)
		var cuts []int
		for at := 0; at < len(text); at += rapid.IntRange(1, len(text)).Draw(t, "size") {
			cuts = append(cuts, at)
		}
		got, err := inSplits(text, cuts...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
			t.Fatalf("%q cut at %v: %q, want %q", text, cuts, got, want)
		}
	}))
	t.Run("cuts around the buffer's border", func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		var b strings.Builder
		for b.Len() < 3*lineBuffer {
			b.WriteString(strings.Repeat("y", random.IntN(9000)))
			b.WriteString([]string{"\n", "\r\n", "\r"}[random.IntN(3)])
		}
		text := b.String()
		want := linesOf(text)
		for i := lineBuffer - 3; i < lineBuffer+4; i++ {
			for _, cuts := range [][]int{{0, i}, {0, i, i + 1}, {0, i - 4096, i + 5000}} {
				got, err := inSplits(text, cuts...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprint("cut at ", cuts), got, want)
			}
		}
	})
}

// A byte order mark at the beginning of a file is no text, wherever the file is cut; elsewhere it stays.
func TestLineReader_F20_leaves_out_a_byte_order_mark(t *testing.T) {
	const mark = "\ufeff"
	for _, text := range []string{"", "k,1\nk,2\n", "\n", "a" + mark + "\n" + mark + "b", mark, "\r\n"} {
		file := mark + text
		want := linesOf(text)
		for cut := range len(file) + 1 {
			var got []string
			for _, s := range [][2]int{{0, cut}, {cut, len(file)}} {
				if s[0] == s[1] {
					continue
				}
				lines, err := readAll(splitReader(strings.NewReader(file), int64(s[0]), int64(s[1])))
				if err != nil {
					t.Errorf("%q, bytes %v: %v", file, s, err)
				}
				got = append(got, lines...)
			}
			if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
				t.Errorf("%q cut at %d: lines %q, want %q", file, cut, got, want)
			}
		}
		whole, err := readAll(&lineReader{src: iotest.OneByteReader(strings.NewReader(file)), limit: -1})
		if err != nil || strings.Join(whole, "|") != strings.Join(want, "|") || len(whole) != len(want) {
			t.Errorf("%q as a stream: lines %q, %v", file, whole, err)
		}
	}
}
