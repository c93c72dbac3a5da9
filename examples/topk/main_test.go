package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
	"github.com/leat-io/leat/examples/internal/table"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	args, outputs := exampletest.Commands(t, "topk")
	if len(args) < 2 {
		t.Fatalf("%d commands", len(args))
	}
	for i, a := range args {
		if got := exampletest.PlayJob(t, run, a...); got != outputs[i] {
			t.Errorf("%q prints\n%s\nREADME.md has\n%s", a, got, outputs[i])
		}
	}
}

func TestTop(t *testing.T) {
	for _, test := range []struct{ name, text, k, want string }{
		{"ties are sorted by word", "b a\nc b\n", "2", "the top 2 of 3 different words\nb\t2\na\t1\n"},
		{"fewer words than k", "b a\n", "5", "the top 2 of 2 different words\na\t1\nb\t1\n"},
		{"empty file", "", "3", "the top 0 of 0 different words\n"},
		{"one", "x y y\nx y\n", "1", "the top 1 of 2 different words\ny\t3\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := exampletest.Write(t, "in", test.text)
			if got := exampletest.PlayJob(t, run, "-in", path, "-k", test.k); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("glob", func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte("w\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := exampletest.PlayJob(t, run, "-in", filepath.Join(dir, "*.txt")), "the top 1 of 1 different words\nw\t3\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Each way by itself gives what sorting all counts gives, with many ties and any number of partitions.
func TestBothWaysAreTheSortedCounts(t *testing.T) {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{Cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var counts []table.Count
	for i := range 3000 { // more than a chunk
		counts = append(counts, table.Count{Key: fmt.Sprintf("w%d", i*7919%3000), Value: int64(i % 13)})
	}
	for _, parts := range []int{1, 2, 7} {
		r := rdd.Parallelize(engine.RDDs(), counts, parts)
		for _, k := range []int{1, 10, 700, 3000, 4000} {
			want := table.Top(append([]table.Count(nil), counts...), k)
			top, err := topCounts(t.Context(), r, k)
			if err != nil {
				t.Fatal(err)
			}
			bounded, err := boundedTop(t.Context(), r, k)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(top); got != fmt.Sprint(want) {
				t.Errorf("%d partitions, k=%d: Top gives %s", parts, k, got)
			}
			if got := fmt.Sprint(bounded); got != fmt.Sprint(want) {
				t.Errorf("%d partitions, k=%d: the aggregate gives %s", parts, k, got)
			}
		}
	}
}

func TestBadArgumentIsAnErrorOfOneLine(t *testing.T) {
	for _, args := range [][]string{{"-in", "/there/is/none"}, {"-k", "0"}, {"-k", "-1"}, {"in"}} {
		err := run(t.Context(), args, io.Discard)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
