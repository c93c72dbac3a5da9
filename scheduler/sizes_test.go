package scheduler_test

import (
	"testing"

	"github.com/leat-io/leat/scheduler"
)

func TestSizes(t *testing.T) {
	counts := []int64{0, 1, 2, 9, 100, 4096, 1 << 20, 1 << 34}
	s := scheduler.SizesOf(counts)
	for i, n := range counts {
		if got := s.Of(i); s.Has(i) != (n > 0) || got < n*99/100 || float64(got) > 1.11*float64(n)+1 {
			t.Errorf("%d is read back as %d", n, got)
		}
	}
	if s.Has(-1) || s.Has(len(counts)) || s.Of(len(counts)) != 0 {
		t.Error("sizes outside the range")
	}
	if scheduler.SizesOf(make([]int64, 3)) != nil {
		t.Error("sizes of nothing are not nil")
	}
}
