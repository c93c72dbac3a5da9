package workload_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/workload"
)

func newText(tb testing.TB, o workload.TextOptions) *workload.Text {
	tb.Helper()
	text, err := workload.NewText(workload.DefaultSeed, o)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// recount computes an answer line by line.
type recount struct {
	counts        map[string]int64
	errors, warns int
}

func (r *recount) add(text *workload.Text, from, to int) {
	for i := from; i < to; i++ {
		line := text.Line(i)
		if strings.Contains(line, workload.ErrorWord) {
			r.errors++
		}
		if strings.Contains(line, workload.WarnWord) {
			r.warns++
		}
		for word := range strings.SplitSeq(line, " ") {
			r.counts[word]++
		}
	}
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }

func TestTextWant(t *testing.T) {
	text := newText(t, workload.TextOptions{})
	for _, size := range []workload.Size{workload.XS, workload.S} {
		t.Run(size.String(), func(t *testing.T) {
			want, ok := workload.TextWant(size)
			if !ok {
				t.Fatal("no answer known")
			}
			r := recount{counts: map[string]int64{}}
			r.add(text, 0, size.Records())
			var file bytes.Buffer
			if err := workload.WriteText(&file, workload.DefaultSeed, 0, size.Records()); err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			h.Write(file.Bytes())
			got := workload.TextAnswer{
				Bytes: file.Len(), Digest: digest(h),
				Errors: r.errors, Warns: r.warns,
				Counts: workload.SummarizeCounts(workload.SortedCounts(r.counts)),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unknown size", func(t *testing.T) {
		if _, ok := workload.TextWant(17); ok {
			t.Error("got an answer for 17 lines")
		}
	})
}

func TestTextWindowWant(t *testing.T) {
	want := workload.TextWindowWant()
	from, to := want.Lines()
	r := recount{counts: map[string]int64{}}
	r.add(newText(t, workload.TextOptions{}), from, to)
	sorted := workload.SortedCounts(r.counts)
	got := workload.TextWindowAnswer{
		First: workload.Batch(workload.EventTime(from, workload.TextPerSecond)),
		Last:  workload.Batch(workload.EventTime(to-1, workload.TextPerSecond)),

		Counts:    workload.SummarizeCounts(sorted),
		Hundredth: sorted[99],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

func TestText(t *testing.T) {
	plain := newText(t, workload.TextOptions{})
	t.Run("ranks of line 0", func(t *testing.T) {
		want := [workload.WordsPerLine]int{0, 8254, 13, 0, 1420, 5, 15, 98, 18, 2159, 95583, 7108, 0, 17889}
		if diff := cmp.Diff(want, plain.Ranks(0)); diff != "" {
			t.Errorf("ranks differ (-want +got):\n%s", diff)
		}
	})
	t.Run("dictionary", func(t *testing.T) {
		d := plain.Dictionary()
		for k, want := range map[int]string{0: "aaaa", 1: "aaab", 99: "aadv", 100: "ojpnaadw", d.Len() - 1: "qwlfryd"} {
			if got := d.Word(k); got != want {
				t.Errorf("word %d: got %q, want %q", k, got, want)
			}
		}
	})
	t.Run("a file written in parts is the same file", func(t *testing.T) {
		var whole, parts bytes.Buffer
		if err := plain.Write(&whole, 0, 3000); err != nil {
			t.Fatal(err)
		}
		for from := 0; from < 3000; from += 750 {
			if err := plain.Write(&parts, from, from+750); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(whole.Bytes(), parts.Bytes()) {
			t.Error("four parts differ from the whole")
		}
	})
	t.Run("a hot word heads about half of the lines and leaves ERROR alone", func(t *testing.T) {
		hot := newText(t, workload.TextOptions{Hot: true})
		heads, errs := 0, 0
		for i := range 10_000 {
			got, want := hot.Line(i), plain.Line(i)
			if strings.HasPrefix(want, workload.ErrorWord) {
				errs++
				if got != want {
					t.Errorf("line %d: got %q, want %q", i, got, want)
				}
			}
			if got != want {
				heads++
				_, rest, _ := strings.Cut(want, " ")
				if got != "aaaa "+rest {
					t.Fatalf("line %d: got %q, want %q", i, got, "aaaa "+rest)
				}
			}
		}
		// A twelfth of the lines had the word there without it.
		if heads < 4300 || heads > 4900 || errs == 0 {
			t.Errorf("got %d lines changed and %d with ERROR, want about 4600 and some", heads, errs)
		}
	})
	t.Run("exponent 2 makes the first word much more frequent", func(t *testing.T) {
		r := recount{counts: map[string]int64{}}
		r.add(newText(t, workload.TextOptions{Exponent: 2}), 0, 1000)
		// Its share is 6 divided by the square of pi, 0.61 of 14,000 words.
		if n := r.counts["aaaa"]; n < 8000 || n > 9000 {
			t.Errorf("got %d, want about 8500", n)
		}
	})
	t.Run("refuses an exponent of 3", func(t *testing.T) {
		_, err := workload.NewText(1, workload.TextOptions{Exponent: 3})
		var bad *workload.ZipfError
		if !errors.As(err, &bad) || bad.Exponent != 3 {
			t.Errorf("got error %v, want a ZipfError", err)
		}
	})
	t.Run("refuses a range that ends before it starts", func(t *testing.T) {
		var bad *workload.RangeError
		if err := plain.Write(io.Discard, 2, 1); !errors.As(err, &bad) {
			t.Errorf("got error %v, want a RangeError", err)
		}
	})
	t.Run("reports what the writer reports", func(t *testing.T) {
		full := errors.New("disk full")
		if err := plain.Write(failing{full}, 0, 5000); !errors.Is(err, full) {
			t.Errorf("got error %v, want %v", err, full)
		}
	})
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// BenchmarkWriteText checks the answer of size M, which is too long for a test.
func BenchmarkWriteText(b *testing.B) {
	text := newText(b, workload.TextOptions{})
	for _, size := range []workload.Size{workload.S, workload.M} {
		b.Run("size="+size.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := text.Write(io.Discard, 0, size.Records()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/record")
			b.StopTimer()
			want, _ := workload.TextWant(size)
			h := sha256.New()
			if err := text.Write(h, 0, size.Records()); err != nil {
				b.Fatal(err)
			}
			if got := digest(h); got != want.Digest {
				b.Fatalf("got digest %s, want %s", got, want.Digest)
			}
		})
	}
}

func ExampleText() {
	text, err := workload.NewText(workload.DefaultSeed, workload.TextOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text.Line(0))
	// Output:
	// aaaa yypcamfm aaan aaaa fcjqlaccq aaaf aaap aadu aaas njsjadfb qybdxxflkh ljksgaknk aaaa brkrabamb
}

func ExampleWriteText() {
	h := sha256.New()
	if err := workload.WriteText(h, workload.DefaultSeed, 0, workload.XS.Records()); err != nil {
		fmt.Println(err)
		return
	}
	want, _ := workload.TextWant(workload.XS)
	fmt.Println(hex.EncodeToString(h.Sum(nil))[:16] == want.Digest)
	// Output:
	// true
}

func ExampleSortedCounts() {
	fmt.Println(workload.SortedCounts(map[string]int64{"b": 1, "c": 2, "a": 1}))
	// Output:
	// [{c 2} {a 1} {b 1}]
}

func ExampleSummarizeCounts() {
	a := workload.SummarizeCounts([]workload.WordCount{{Word: "a", Count: 1}, {Word: "b", Count: 5}})
	fmt.Println(a.Words, a.Distinct, a.Top[0])
	// Output:
	// 6 2 {b 5}
}
