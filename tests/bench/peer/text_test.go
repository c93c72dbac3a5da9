package peer_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

func textFile(tb testing.TB, size workload.Size) []byte {
	tb.Helper()
	var file bytes.Buffer
	if err := workload.WriteText(&file, workload.DefaultSeed, 0, size.Records()); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

func TestWordCount(t *testing.T) {
	for _, size := range []workload.Size{workload.XS, workload.S} {
		t.Run("size="+size.String(), func(t *testing.T) {
			data := textFile(t, size)
			want, _ := workload.TextWant(size)
			counts, err := peer.WordCount(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Counts, workload.SummarizeCounts(workload.SortedCounts(counts))); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(counts, peer.WordCountBytes(data)); diff != "" {
				t.Errorf("counts over bytes differ (-fields +bytes):\n%s", diff)
			}
		})
	}
	t.Run("spaces and line ends in a row are no words", func(t *testing.T) {
		const text = "\n  b a\n\na  b \n a"
		want := map[string]int64{"a": 3, "b": 2}
		got, err := peer.WordCount(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("fields differ (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, peer.WordCountBytes([]byte(text))); diff != "" {
			t.Errorf("bytes differ (-want +got):\n%s", diff)
		}
	})
	t.Run("reports a line that is too long", func(t *testing.T) {
		_, err := peer.WordCount(strings.NewReader(strings.Repeat("a", 2<<20)))
		if !errors.Is(err, bufio.ErrTooLong) {
			t.Errorf("got error %v, want %v", err, bufio.ErrTooLong)
		}
	})
	t.Run("reports what the reader reports", func(t *testing.T) {
		_, err := peer.WordCount(iotest.ErrReader(io.ErrClosedPipe))
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got error %v, want %v", err, io.ErrClosedPipe)
		}
	})
}

func TestGrep(t *testing.T) {
	for _, size := range []workload.Size{workload.XS, workload.S} {
		data := textFile(t, size)
		want, _ := workload.TextWant(size)
		for _, tt := range []struct {
			pattern string
			lines   int
		}{{workload.ErrorWord, want.Errors}, {workload.WarnWord, want.Warns}, {"NONE", 0}} {
			t.Run(fmt.Sprintf("%s/size=%s", tt.pattern, size), func(t *testing.T) {
				for name, got := range grepAll(t, data, []byte(tt.pattern)) {
					if got != tt.lines {
						t.Errorf("%s: got %d lines, want %d", name, got, tt.lines)
					}
				}
			})
		}
	}
	t.Run("all forms agree on any text", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			data := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 60, -1).Draw(t, "data"))
			pattern := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 3, -1).Draw(t, "pattern"))
			want := 0
			for line := range strings.Lines(string(data)) {
				if strings.Contains(strings.TrimSuffix(line, "\n"), string(pattern)) {
					want++
				}
			}
			for name, got := range grepAll(t, data, pattern) {
				if got != want {
					t.Errorf("%s: got %d lines, want %d", name, got, want)
				}
			}
		})
	})
	t.Run("writes the lines it finds", func(t *testing.T) {
		var out bytes.Buffer
		n, err := peer.GrepWrite(&out, []byte("xa\nb\nay"), []byte("a"))
		if err != nil || n != 2 || out.String() != "xa\nay\n" {
			t.Errorf("got %d lines %q and error %v", n, out.String(), err)
		}
	})
	t.Run("reports what the writer and the reader report", func(t *testing.T) {
		r, w := io.Pipe()
		r.CloseWithError(io.ErrClosedPipe)
		if _, err := peer.GrepWrite(w, []byte("a"), []byte("a")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write: got error %v, want %v", err, io.ErrClosedPipe)
		}
		if _, err := peer.GrepScanner(iotest.ErrReader(io.ErrClosedPipe), []byte("a")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("scan: got error %v, want %v", err, io.ErrClosedPipe)
		}
	})
}

// grepAll returns the answers of all forms of grep.
func grepAll(tb rapid.TB, data, pattern []byte) map[string]int {
	tb.Helper()
	scanned, err := peer.GrepScanner(bytes.NewReader(data), pattern)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	written, err := peer.GrepWrite(&out, data, pattern)
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]int{
		"lines":   peer.GrepLines(data, pattern),
		"index":   peer.GrepIndex(data, pattern),
		"scanner": scanned,
		"write":   written,
		"written": bytes.Count(out.Bytes(), []byte{'\n'}),
	}
}

// benchSizes are S and M; M is too long for a test, so its answers are checked here.
var benchSizes = []workload.Size{workload.S, workload.M}

func BenchmarkWordCount(b *testing.B) {
	for _, size := range benchSizes {
		data := textFile(b, size)
		want, _ := workload.TextWant(size)
		for _, form := range []struct {
			name string
			run  func() (map[string]int64, error)
		}{
			{"fields", func() (map[string]int64, error) { return peer.WordCount(bytes.NewReader(data)) }},
			{"bytes", func() (map[string]int64, error) { return peer.WordCountBytes(data), nil }},
		} {
			b.Run(fmt.Sprintf("%s/size=%s", form.name, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				var counts map[string]int64
				for b.Loop() {
					var err error
					if counts, err = form.run(); err != nil {
						b.Fatal(err)
					}
				}
				perRecord(b, size.Records()*workload.WordsPerLine)
				if got := workload.SummarizeCounts(workload.SortedCounts(counts)); got != want.Counts {
					b.Fatalf("got %+v, want %+v", got, want.Counts)
				}
			})
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	for _, size := range benchSizes {
		data := textFile(b, size)
		want, _ := workload.TextWant(size)
		for _, p := range []struct {
			pattern string
			lines   int
		}{{workload.ErrorWord, want.Errors}, {workload.WarnWord, want.Warns}} {
			pattern := []byte(p.pattern)
			for _, form := range []struct {
				name string
				run  func() (int, error)
			}{
				{"lines", func() (int, error) { return peer.GrepLines(data, pattern), nil }},
				{"scanner", func() (int, error) { return peer.GrepScanner(bytes.NewReader(data), pattern) }},
				{"index", func() (int, error) { return peer.GrepIndex(data, pattern), nil }},
				{"write", func() (int, error) { return peer.GrepWrite(io.Discard, data, pattern) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/size=%s", form.name, p.pattern, size), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(len(data)))
					for b.Loop() {
						if got, err := form.run(); err != nil || got != p.lines {
							b.Fatalf("got %d lines and error %v, want %d", got, err, p.lines)
						}
					}
					perRecord(b, size.Records())
				})
			}
		}
	}
}

func ExampleWordCount() {
	counts, err := peer.WordCount(strings.NewReader("to be or\nnot to be\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(workload.SortedCounts(counts))
	// Output:
	// [{be 2} {to 2} {not 1} {or 1}]
}

func ExampleWordCountBytes() {
	fmt.Println(workload.SortedCounts(peer.WordCountBytes([]byte("to be or\nnot to be\n"))))
	// Output:
	// [{be 2} {to 2} {not 1} {or 1}]
}

func ExampleGrepLines() {
	fmt.Println(peer.GrepLines([]byte("one\ntwo\nthree"), []byte("e")))
	// Output:
	// 2
}

func ExampleGrepIndex() {
	fmt.Println(peer.GrepIndex([]byte("one\ntwo\nthree"), []byte("e")))
	// Output:
	// 2
}

func ExampleGrepScanner() {
	fmt.Println(peer.GrepScanner(strings.NewReader("one\ntwo\nthree"), []byte("e")))
	// Output:
	// 2 <nil>
}

func ExampleGrepWrite() {
	fmt.Println(peer.GrepWrite(os.Stdout, []byte("one\ntwo\nthree"), []byte("e")))
	// Output:
	// one
	// three
	// 2 <nil>
}
