package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// twoTotals declares two states of the same types, which only their names and UIDs tell apart.
func twoTotals(t testing.TB, input, inputUID, first, firstUID, second, secondUID string) *dstream.Graph {
	g, end := exampleGraph(t.TempDir())
	t.Cleanup(end)
	name := func(s *dstream.DStream[rdd.Pair[int, int64]], name, uid string) {
		if name != "" {
			s.Named(name)
		}
		if uid != "" {
			s.UID(uid)
		}
	}
	in := dstream.NewInput(g, input, "Numbers", dstream.Input[int](noNumbers{}))
	if inputUID != "" {
		in.UID(inputUID)
	}
	counts := dstream.CountByValue(in.Filter(func(int) bool { return true }).Named(first + " of them"))
	sum := func(_ []int64, old rdd.Option[int64]) rdd.Option[int64] { return old }
	a, b := dstream.UpdateStateByKey(counts, sum), dstream.UpdateStateByKey(counts, sum)
	name(a, first, firstUID)
	name(b, second, secondUID)
	for _, s := range []*dstream.DStream[rdd.Pair[int, int64]]{a, b} {
		dstream.ForeachRDD(s, func(context.Context, *rdd.RDD[rdd.Pair[int, int64]], dstream.Time) error { return nil })
	}
	return g
}

// noNumbers is an input without records.
type noNumbers struct{}

func (noNumbers) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Parallelize(c, []int(nil), 1), nil
}

// A stream with memory may be named otherwise where its UID is the same, and is refused where the UID is another's.
func TestNamesAndUIDsOfAnEarlierBuild(t *testing.T) {
	for _, c := range []struct {
		name            string
		was, is         [6]string
		notes           int
		refused         string
		sameFingerprint bool
	}{
		{name: "nothing changes", was: [6]string{"in", "u", "a", "1", "b", "2"}, is: [6]string{"in", "u", "a", "1", "b", "2"}, sameFingerprint: true},
		{name: "renamed, same UIDs", was: [6]string{"in", "u", "a", "1", "b", "2"}, is: [6]string{"feed", "u", "x", "1", "b", "2"}, notes: 3},
		{name: "renamed, no UID", was: [6]string{"in", "", "a", "", "b", ""}, is: [6]string{"in", "", "x", "", "b", ""}, refused: `updateStateByKey[4] "a"`},
		{name: "input renamed, no UID", was: [6]string{"in", "", "a", "", "b", ""}, is: [6]string{"feed", "", "a", "", "b", ""}, refused: "node 1"},
		{name: "in the other order", was: [6]string{"in", "", "a", "1", "b", "2"}, is: [6]string{"in", "", "b", "2", "a", "1"}, refused: `uid "2"`},
		{name: "UIDs are given", was: [6]string{"in", "", "a", "", "b", ""}, is: [6]string{"in", "u", "a", "1", "b", "2"}, notes: 3},
		{name: "UIDs are taken away", was: [6]string{"in", "", "a", "1", "b", "2"}, is: [6]string{"in", "", "a", "", "b", ""}, notes: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			was := twoTotals(t, c.was[0], c.was[1], c.was[2], c.was[3], c.was[4], c.was[5])
			is := twoTotals(t, c.is[0], c.is[1], c.is[2], c.is[3], c.is[4], c.is[5])
			notes, err := dstream.NodeChanges(was.Nodes(), is.Nodes())
			switch {
			case c.refused == "" && err != nil, c.refused != "" && (!errors.Is(err, dstream.ErrChanged) || !strings.Contains(fmt.Sprint(err), c.refused)):
				t.Errorf("NodeChanges = %v, want %q", err, c.refused)
			case len(notes) != c.notes:
				t.Errorf("%d notes %q, want %d", len(notes), notes, c.notes)
			case (was.Fingerprint() == is.Fingerprint()) != c.sameFingerprint:
				t.Errorf("fingerprints %s and %s", was.Fingerprint(), is.Fingerprint())
			}
		})
	}
}

func TestNamesAndUIDsAreChecked(t *testing.T) {
	for name, wrong := range map[string]func(a, b *dstream.DStream[int]){
		"empty":       func(a, _ *dstream.DStream[int]) { a.Named("") },
		"long":        func(a, _ *dstream.DStream[int]) { a.UID(strings.Repeat("x", 129)) },
		"unprintable": func(a, _ *dstream.DStream[int]) { a.UID("a\nb") },
		"twice":       func(a, b *dstream.DStream[int]) { a.UID("a"); b.UID("a") },
	} {
		t.Run(name, func(t *testing.T) {
			g, end := exampleGraph("")
			defer end()
			a := numbers(g)
			b := a.Filter(func(int) bool { return true })
			wrong(a, b)
			var built *dstream.BuildError
			if err := g.Err(); !errors.As(err, &built) || !errors.Is(err, dstream.ErrArgument) {
				t.Errorf("Err = %v, want a BuildError of ErrArgument", err)
			}
		})
	}
}

// Where programs are compared people read the name.
func ExampleDStream_Named() {
	g, end := exampleGraph("")
	defer end()
	dstream.Window(numbers(g), 2*time.Second, 0).Named("recent numbers")
	fmt.Println(g.Nodes()[1])
	// Output:
	// window[2] "recent numbers": slide 1000 ms, of 1, window 2000 ms
}

// A state is renamed: the UID says that it is the same.
func ExampleDStream_UID() {
	declare := func(name string) []dstream.NodeInfo {
		g, end := exampleGraph("")
		defer end()
		recent := dstream.Window(numbers(g), 2*time.Second, 0).Named(name).UID("recent-numbers")
		dstream.ForeachRDD(recent, func(context.Context, *rdd.RDD[int], dstream.Time) error { return nil })
		return g.Nodes()
	}
	notes, err := dstream.NodeChanges(declare("last two"), declare("recent"))
	for _, note := range notes {
		fmt.Println(note)
	}
	fmt.Println(err)
	// Output:
	// node 2 was window[2] "last two" uid "recent-numbers": slide 1000 ms, of 1, window 2000 ms, is window[2] "recent" uid "recent-numbers": slide 1000 ms, of 1, window 2000 ms
	// <nil>
}
