package cluster

import (
	"testing"
	"time"
)

// How long an entry waits is counted from the look that first saw it, and anew once it is applied, however many were decided meanwhile.
func TestLag(t *testing.T) {
	var l lag
	at := time.Unix(1000, 0)
	for i, step := range []struct {
		committed, applied uint64
		want               time.Duration
	}{
		{5, 5, 0}, {7, 5, 0}, {9, 6, time.Second}, {9, 6, 2 * time.Second}, {12, 8, 0}, {12, 10, time.Second}, {12, 12, 0}, {20, 12, 0}, {30, 19, time.Second},
	} {
		if got := l.look(step.committed, step.applied, at); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
		at = at.Add(time.Second)
	}
}
