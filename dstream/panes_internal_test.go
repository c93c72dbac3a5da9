package dstream

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/leat-io/leat/rdd"
)

// A ledger is the RDDs that panes are combined to, with the panes each stands for.
type ledger struct {
	t      *testing.T
	c      *rdd.Context
	covers map[*rdd.RDD[int]]stretch
	joins  int
}

func newLedger(t *testing.T, size int, absent func(i int) bool) (*panes[int], *ledger) {
	c, err := rdd.NewContext(refusing{}, rdd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{t: t, c: c, covers: map[*rdd.RDD[int]]stretch{}}
	p := newPanes[int](size)
	leaves := map[int]*rdd.RDD[int]{}
	p.pane = func(i int) (*rdd.RDD[int], error) {
		if i < 0 {
			t.Errorf("asked for pane %d", i)
		}
		if absent(i) {
			return nil, nil
		}
		if leaves[i] == nil {
			leaves[i] = rdd.Empty[int](c)
			l.covers[leaves[i]] = stretch{i, i + 1}
		}
		return leaves[i], nil
	}
	p.join = func(older, newer *rdd.RDD[int]) *rdd.RDD[int] {
		l.joins++
		a, b := l.covers[older], l.covers[newer]
		for i := a.to; i < b.from; i++ {
			if !absent(i) {
				t.Errorf("[%d, %d) and [%d, %d) are combined without pane %d", a.from, a.to, b.from, b.to, i)
			}
		}
		if a.to > b.from {
			t.Errorf("[%d, %d) and [%d, %d) are combined", a.from, a.to, b.from, b.to)
		}
		r := rdd.Empty[int](c)
		l.covers[r] = stretch{a.from, b.to}
		return r
	}
	return p, l
}

// slide evaluates the window that ends with pane last as a stream does.
func slideTo(t *testing.T, p *panes[int], l *ledger, last, slide int, absent func(i int) bool) {
	parts, err := p.window(last)
	if err != nil {
		t.Fatal(err)
	}
	if slide < p.size {
		for i := last - slide + 1; i <= last; i++ {
			if _, err := p.grow(i); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := max(0, last-p.size+1)
	for _, r := range parts {
		s := l.covers[r]
		for ; at < s.from; at++ {
			if !absent(at) {
				t.Errorf("the window that ends with %d lacks pane %d", last, at)
			}
		}
		if s.from < at {
			t.Errorf("the window that ends with %d takes [%d, %d) twice", last, s.from, at)
		}
		at = s.to
	}
	for ; at <= last; at++ {
		if !absent(at) {
			t.Errorf("the window that ends with %d lacks pane %d", last, at)
		}
	}
	if at > last+1 {
		t.Errorf("the window that ends with %d reaches to %d", last, at)
	}
	if len(parts) == 2 {
		l.joins++ // the window itself
	}
	p.forget(last + 1 - slide)
}

func TestPanesOfAnySizeAndSlideMakeUpTheWindow(t *testing.T) {
	for size := 1; size <= 17; size++ {
		for slide := 1; slide <= 20; slide++ {
			for _, gap := range []int{0, 2, 3, 5} {
				absent := func(i int) bool { return gap > 0 && i%gap != 0 }
				t.Run(fmt.Sprintf("size=%d/slide=%d/gap=%d", size, slide, gap), func(t *testing.T) {
					p, l := newLedger(t, size, absent)
					for last := slide - 1; last < 4*size+3*slide; last += slide {
						slideTo(t, p, l, last, slide, absent)
					}
				})
			}
		}
	}
}

func TestPanesCostOfASlide(t *testing.T) {
	never := func(int) bool { return false }
	for _, size := range []int{2, 3, 6, 7, 16, 60, 100, 600, 601} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p, l := newLedger(t, size, never)
			worst, total, entries := 0, 0, 0
			for last := range 6 * size {
				l.joins = 0
				slideTo(t, p, l, last, 1, never)
				if last >= size {
					worst, total = max(worst, l.joins), total+l.joins
				}
				entries = max(entries, len(p.trees)+len(p.suffixes)+len(p.prefixes))
			}
			mean := float64(total) / float64(5*size)
			if limit := 2*bits.Len(uint(size)) + 3; worst > limit {
				t.Errorf("a slide combines %d times, want at most %d", worst, limit)
			}
			if mean > 4 {
				t.Errorf("a slide combines %.2f times on average, want at most 4", mean)
			}
			if limit := 3*size + 20; entries > limit {
				t.Errorf("%d parts are kept, want at most %d", entries, limit)
			}
		})
	}
}
