package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func readLines(src io.Reader, limit int) (lines []string, end error) {
	r := NewReader(src, limit)
	for {
		var err error
		if lines, err = r.Next(lines); err != nil {
			return lines, err
		}
	}
}

func TestLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"I5 three lines", "1\n2\n3\n", []string{"1", "2", "3"}},
		{"carriage return and line feed", "1\r\n2\r\n", []string{"1", "2"}},
		{"carriage return", "1\r2\r", []string{"1", "2"}},
		{"all of them", "1\r\n2\n3\r4", []string{"1", "2", "3", "4"}},
		{"unterminated last line", "1\n2", []string{"1", "2"}},
		{"empty lines", "\n\r\n\r\r\n\n", []string{"", "", "", "", ""}},
		{"line feed before carriage return", "1\n\r2", []string{"1", "", "2"}},
		{"nothing", "", nil},
		{"SO-05 not UTF-8", "1\n\xff\xfe\xc3\n2\n", []string{"1", "\xff\xfe\xc3", "2"}},
		{"other separators are text", "a\u2028b\x0bc\x00\n", []string{"a\u2028b\x0bc\x00"}},
		{"longer than the buffer", strings.Repeat("x", 3*readSize+1) + "\r\n" + "y", []string{strings.Repeat("x", 3*readSize+1), "y"}},
		{"terminator across the buffer's end", strings.Repeat("x", readSize-1) + "\r\ny\n", []string{strings.Repeat("x", readSize-1), "y"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"at once":                strings.NewReader(test.text),
				"byte by byte":           iotest.OneByteReader(strings.NewReader(test.text)),
				"end with the last read": iotest.DataErrReader(strings.NewReader(test.text)),
			} {
				got, end := readLines(src, 1<<20)
				if end != io.EOF {
					t.Errorf("%s: ended with %v", name, end)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: lines (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestLines_are_the_text_cut_at_terminators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab\r\n]{0,40}`).Draw(t, "text")
		want := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		var src io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "halves") {
			src = iotest.HalfReader(src)
		}
		got, end := readLines(src, 40)
		if end != io.EOF || strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Fatalf("%q cut into %q, %v; want %q", text, got, end, want)
		}
	})
}

func TestLines_drops_the_incomplete_line_of_a_broken_connection(t *testing.T) {
	reset := errors.New("connection reset")
	got, end := readLines(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(reset)), 10)
	if diff := cmp.Diff([]string{"1"}, got); diff != "" || end != reset {
		t.Errorf("lines (-want +got):\n%s\nended with %v", diff, end)
	}
}

func TestLines_too_long(t *testing.T) {
	tests := []struct {
		name, text string
		limit      int
		lines      int
		offset     int64 // -1: no error
	}{
		{"as long as allowed", "12345\n12345\r\n12345", 5, 3, -1},
		{"terminated", "1\r\n123456\n7", 5, 1, 3},
		{"unterminated", "1\n123456", 5, 1, 2},
		{"endless", "12\n" + strings.Repeat("x", 10*readSize), 2 * readSize, 1, 3},
		{"the first", "123456\n", 5, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"at once":      strings.NewReader(test.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(test.text)),
			} {
				got, end := readLines(src, test.limit)
				if len(got) != test.lines {
					t.Errorf("%s: lines %q, want %d", name, got, test.lines)
				}
				tooLong, ok := errors.AsType[*TooLongError](end)
				if ok != (test.offset >= 0) {
					t.Fatalf("%s: ended with %v", name, end)
				}
				if ok && (tooLong.Offset != test.offset || tooLong.Limit != test.limit) {
					t.Errorf("%s: %+v, want offset %d", name, tooLong, test.offset)
				}
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("1\r\n2\n3\r4", uint8(3))
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		whole, end1 := readLines(strings.NewReader(text), int(limit))
		bytewise, end2 := readLines(iotest.OneByteReader(strings.NewReader(text)), int(limit))
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Errorf("lines depend on the reads:\n%s", diff)
		}
		if diff := cmp.Diff(end1.Error(), end2.Error()); diff != "" {
			t.Errorf("ends depend on the reads:\n%s", diff)
		}
	})
}

func BenchmarkLines(b *testing.B) {
	const n = 10_000
	text := strings.Repeat("a line of about forty bytes, as logs go\n", n)
	b.Run("reader", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if lines, _ := countLines(text); lines != n {
				b.Fatal(lines)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
	b.Run("plain loop", func(b *testing.B) {
		b.ReportAllocs()
		var size int
		for b.Loop() {
			for rest := text; rest != ""; {
				line, after, _ := strings.Cut(rest, "\n")
				size += len(strings.Clone(line))
				rest = after
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
}

func countLines(text string) (lines int, end error) {
	r := NewReader(strings.NewReader(text), 1<<20)
	var batch []string
	for {
		if batch, end = r.Next(batch[:0]); end != nil {
			return lines + len(batch), end
		}
		lines += len(batch)
	}
}

func TestNext_returns_what_one_read_completed(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("1\n2"), strings.NewReader("3\r"), strings.NewReader("\n4\n5\r\n")), 10)
	for _, want := range [][]string{{"1"}, {"23"}, {"4", "5"}, nil} {
		got, err := r.Next(nil)
		if diff := cmp.Diff(want, got); diff != "" || (err == io.EOF) != (want == nil) {
			t.Errorf("lines (-want +got):\n%s\n%v", diff, err)
		}
	}
}

// Whoever goes on after a line that was too long gets all others.
func TestNext_goes_on_behind_a_line_that_is_too_long(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab\r\n]{0,60}`).Draw(t, "text")
		limit := rapid.IntRange(0, 6).Draw(t, "limit")
		var want []string
		long := 0
		for _, line := range Cut(nil, text) {
			if len(line) <= limit {
				want = append(want, line)
			} else {
				long++
			}
		}
		var src io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "halves") {
			src = iotest.HalfReader(src)
		}
		r := NewReader(src, limit)
		var got []string
		var err error
		for err != io.EOF {
			if got, err = r.Next(got); err == nil {
				continue
			}
			if _, ok := errors.AsType[*TooLongError](err); ok {
				long--
			} else if err != io.EOF {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || long != 0 {
			t.Fatalf("%d long lines not told of; lines (-want +got):\n%s", long, diff)
		}
	})
}

// A failure is told once; the line that it cut in two is whole if the source goes on.
func TestNext_reads_on_after_a_failure(t *testing.T) {
	src := &failsOnce{Reader: strings.NewReader("b\n")}
	r := NewReader(io.MultiReader(strings.NewReader("a"), src), 10)
	got, err := r.Next(nil)
	if len(got) != 0 || err != errOnce {
		t.Fatalf("first call: %q, %v", got, err)
	}
	if got, err = r.Next(nil); err != nil || len(got) != 1 || got[0] != "ab" {
		t.Errorf("second call: %q, %v", got, err)
	}
}

var errOnce = errors.New("not now")

type failsOnce struct {
	io.Reader
	failed bool
}

func (f *failsOnce) Read(p []byte) (int, error) {
	if !f.failed {
		f.failed = true
		return 0, errOnce
	}
	return f.Reader.Read(p)
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestNext_gives_up_a_source_that_returns_nothing(t *testing.T) {
	if _, err := NewReader(silent{}, 10).Next(nil); err != io.ErrNoProgress {
		t.Errorf("Next = %v", err)
	}
}

// A line that is kept holds on to a piece of a small read, to all of a large one.
func TestNext_shares_memory_within_bounds(t *testing.T) {
	for size, limit := range map[int]int{readSize/2 - 1: pieceSize, readSize / 2: readSize, readSize: readSize} {
		text := strings.Repeat("0123456789\n", readSize)[:size]
		lines, err := NewReader(strings.NewReader(text), 100).Next(nil)
		if err != nil {
			t.Fatal(err)
		}
		pieces, longest, length := 1, 0, 11
		for i := range lines[1:] {
			behind := uintptr(unsafe.Pointer(unsafe.StringData(lines[i]))) + 11
			if length += 11; behind != uintptr(unsafe.Pointer(unsafe.StringData(lines[i+1]))) {
				pieces, length = pieces+1, 11
			}
			longest = max(longest, length)
		}
		if longest > limit || pieces > size/(limit-11)+1 {
			t.Errorf("read of %d bytes: %d lines in %d pieces of up to %d bytes", size, len(lines), pieces, longest)
		}
	}
}
