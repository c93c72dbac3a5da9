package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
)

func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	args, outputs := exampletest.Commands(t, "pagerank")
	if len(args) < 2 {
		t.Fatalf("%d commands", len(args))
	}
	for i, a := range args {
		if got := exampletest.PlayJob(t, run, a...); got != outputs[i] {
			t.Errorf("%q prints\n%s\nREADME.md has\n%s", a, got, outputs[i])
		}
	}
}

// randomGraph has 120 nodes, of which those above 90 link to nothing, and edges that come twice.
func randomGraph() string {
	random := rand.New(rand.NewPCG(7, 11))
	var graph strings.Builder
	graph.WriteString("# from to\n\n")
	for range 400 {
		line := fmt.Sprintf("n%d\tn%d\n", random.IntN(90), random.IntN(120))
		graph.WriteString(line)
		if random.IntN(5) == 0 {
			graph.WriteString(line)
		}
	}
	return graph.String()
}

func TestRanksAreThoseOfAPlainLoop(t *testing.T) {
	path := exampletest.Write(t, "graph", randomGraph())
	var first []string
	for _, parts := range []int{1, 2, 7} {
		for _, every := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("partitions=%d/checkpoint=%d", parts, every), func(t *testing.T) {
				got := exampletest.PlayJob(t, run, "-in", path, "-check", "-top", "0",
					"-partitions", strconv.Itoa(parts), "-checkpoint", strconv.Itoa(every))
				lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
				written := 0
				if every > 0 {
					written = 10 / every
				}
				head := fmt.Sprintf("%d nodes, 10 iterations; shuffles: links 1, ranks 10; checkpoints %d", len(lines)-2, written)
				if lines[0] != head {
					t.Errorf("the first line is %q, want %q", lines[0], head)
				}
				last, ok := strings.CutPrefix(lines[len(lines)-1], "largest difference\t")
				if d, err := strconv.ParseFloat(last, 64); !ok || err != nil || !(d <= 1e-9) {
					t.Errorf("the last line is %q", lines[len(lines)-1])
				}
				sum := 0.0
				for _, line := range lines[1 : len(lines)-1] {
					_, value, _ := strings.Cut(line, "\t")
					r, err := strconv.ParseFloat(value, 64)
					if err != nil {
						t.Fatal(err)
					}
					sum += r
				}
				if math.Abs(sum-1) > 1e-6 { // nine digits are printed of each
					t.Errorf("the ranks add up to %v", sum)
				}
				if first == nil {
					first = lines[1:]
				} else if a, b := strings.Join(first, "\n"), strings.Join(lines[1:], "\n"); a != b {
					t.Errorf("other ranks than with one partition:\n%s\n%s", a, b)
				}
			})
		}
	}
}

// The graph of eleven nodes is in many texts, with these ranks in percent.
func TestKnownRanks(t *testing.T) {
	got := exampletest.PlayJob(t, run, "-iterations", "60", "-top", "0")
	_, got, _ = strings.Cut(got, "\n")
	want := map[string]string{
		"A": "3.3", "B": "38.4", "C": "34.3", "D": "3.9", "E": "8.1", "F": "3.9",
		"G": "1.6", "H": "1.6", "I": "1.6", "J": "1.6", "K": "1.6",
	}
	for line := range strings.Lines(got) {
		node, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		r, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if percent := fmt.Sprintf("%.1f", 100*r); percent != want[node] {
			t.Errorf("%s has %s percent, want %s", node, percent, want[node])
		}
		delete(want, node)
	}
	if len(want) > 0 {
		t.Errorf("not ranked: %v", want)
	}
}

func TestSmallGraphs(t *testing.T) {
	for _, test := range []struct{ name, graph, iterations, want string }{
		{"empty", "", "10", "0 nodes, 10 iterations"},
		{"only comments", "# a b\n\n", "10", "0 nodes, 10 iterations"},
		{"no iteration", "a b\n", "0", "2 nodes, 0 iterations; shuffles: links 1, ranks 0; checkpoints 0\na\t0.500000000\nb\t0.500000000\n"},
		// a third each; b and c, without links, have 2/3: 0.05 + 0.85*2/9, and half of 0.85/3 for b and c.
		{"an edge twice", "a b\na c\na b\n", "1", "3 nodes, 1 iterations; shuffles: links 1, ranks 1; checkpoints 0\n" +
			"b\t0.380555556\nc\t0.380555556\na\t0.238888889\n"},
		{"an edge to itself", "a a\n", "3", "1 nodes, 3 iterations; shuffles: links 1, ranks 3; checkpoints 0\na\t1.000000000\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := exampletest.Write(t, "graph", test.graph)
			got := exampletest.PlayJob(t, run, "-in", path, "-iterations", test.iterations, "-check")
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestRanksThatDifferInTheLastDigitAreATie(t *testing.T) {
	got := best([]rank{{Key: "c", Value: 0.2}, {Key: "b", Value: math.Nextafter(0.3, 1)}, {Key: "a", Value: 0.3}}, 2)
	if len(got) != 2 || got[0].Key != "a" || got[1].Key != "b" {
		t.Errorf("got %v, want a before b", got)
	}
}

func TestCheckFails(t *testing.T) {
	want := []rank{{Key: "a", Value: 0.5}, {Key: "b", Value: 0.5}}
	if d, err := check([]rank{{Key: "b", Value: 0.5}, {Key: "a", Value: 0.5 + 1e-10}}, want); err != nil || d == 0 {
		t.Errorf("in another order, nearly the same: %v, %v", d, err)
	}
	for name, got := range map[string][]rank{
		"off":          {{Key: "a", Value: 0.5}, {Key: "b", Value: 0.5 + 2e-9}},
		"NaN":          {{Key: "a", Value: math.NaN()}, {Key: "b", Value: 0.5}},
		"missing":      {{Key: "a", Value: 0.5}},
		"another node": {{Key: "a", Value: 0.5}, {Key: "c", Value: 0.5}},
	} {
		if _, err := check(got, want); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBadInputIsAnError(t *testing.T) {
	for name, line := range map[string]string{"one node": "a", "three": "a b c"} {
		path := exampletest.Write(t, "graph", "a b\n"+line+"\n")
		if err := run(t.Context(), []string{"-in", path}, io.Discard); err == nil || !strings.Contains(err.Error(), strconv.Quote(line)) {
			t.Errorf("%s: error %v does not name the line", name, err)
		}
	}
}

func TestBadArgumentIsAnErrorOfOneLine(t *testing.T) {
	for _, args := range [][]string{
		{"-in", "/there/is/none"}, {"-iterations", "-1"}, {"-checkpoint", "-1"}, {"-partitions", "0"}, {"-top", "-1"},
		{"-damping", "1.1"}, {"-damping", "NaN"}, {"graph"},
	} {
		err := run(t.Context(), args, io.Discard)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
