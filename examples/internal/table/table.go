// Package table shows the examples' results: on a terminal a table that is drawn again for every batch,
// elsewhere a line for every batch.
package table

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/rdd"
)

// Count is a word and how often it occurs.
type Count = rdd.Pair[string, int64]

// A Table writes to one place.
type Table struct {
	w        io.Writer
	terminal bool
}

// New returns a table on w.
func New(w io.Writer) *Table {
	f, ok := w.(*os.File)
	if ok {
		info, err := f.Stat()
		ok = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return &Table{w: w, terminal: ok}
}

// A Batch is what is shown of one.
type Batch struct {
	Number  int
	Time    int64 // batch time in milliseconds
	Records int64
	Took    time.Duration // processing time; 0: not measured
	Delay   time.Duration // scheduling delay
	Title   string        // what the counts are of
	Top     []Count
}

// Show shows a batch.
func (t *Table) Show(b Batch) error {
	rate := "-"
	if b.Took > 0 {
		rate = fmt.Sprintf("%.0f", float64(b.Records)/b.Took.Seconds())
	}
	var out strings.Builder
	head := fmt.Sprintf("batch %d  time %d ms  records %d  records/s %s  processing %v  delay %v",
		b.Number, b.Time, b.Records, rate, b.Took.Round(time.Millisecond), b.Delay.Round(time.Millisecond))
	if t.terminal {
		out.WriteString("\x1b[H\x1b[2J" + head + "\n\n" + b.Title + "\n")
		for _, c := range b.Top {
			fmt.Fprintf(&out, "%12d  %s\n", c.Value, c.Key)
		}
	} else {
		out.WriteString(head + "  " + b.Title)
		for _, c := range b.Top {
			fmt.Fprintf(&out, " %s:%d", c.Key, c.Value)
		}
		out.WriteByte('\n')
	}
	_, err := io.WriteString(t.w, out.String())
	return err
}

// Top returns the n highest counts, highest first, ties by word; all where n is 0. It may reorder counts.
func Top(counts []Count, n int) []Count {
	if n == 0 || n >= len(counts) {
		slices.SortFunc(counts, Compare)
		return counts
	}
	// The table is small and most words are not in it, so one comparison a word is the usual case.
	top := append([]Count(nil), counts[:n]...)
	slices.SortFunc(top, Compare)
	for _, c := range counts[n:] {
		if Compare(c, top[n-1]) < 0 {
			at, _ := slices.BinarySearchFunc(top, c, Compare)
			copy(top[at+1:], top[at:n-1])
			top[at] = c
		}
	}
	return top
}

// Compare orders the highest count first, ties by word.
func Compare(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Key, b.Key))
}

// Print writes one "word<TAB>count" line for each count.
func Print(w io.Writer, counts []Count) error {
	var out strings.Builder
	for _, c := range counts {
		fmt.Fprintf(&out, "%s\t%d\n", c.Key, c.Value)
		if out.Len() > 1<<16 {
			if _, err := io.WriteString(w, out.String()); err != nil {
				return err
			}
			out.Reset()
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
