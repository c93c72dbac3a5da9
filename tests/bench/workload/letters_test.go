package workload_test

import (
	"fmt"
	"testing"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestLetters(t *testing.T) {
	l := workload.NewLetters(workload.DefaultSeed)
	tests := []struct {
		name    string
		x       uint64
		n       int
		wantLen int
	}{
		{"the last word still fits", ^uint64(0), 100, 100},
		{"no letters", 1 << 63, 0, 0},
		{"fewer than none", 1 << 63, -5, 0},
		{"the whole pool", ^uint64(0), workload.LettersLen, workload.LettersLen},
		{"more than the pool", 1, workload.LettersLen + 1, workload.LettersLen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := len(l.Str(tt.x, tt.n)); got != tt.wantLen {
				t.Errorf("got %d letters, want %d", got, tt.wantLen)
			}
		})
	}
	t.Run("starts where the word points", func(t *testing.T) {
		all := l.Str(0, workload.LettersLen)
		if got, want := l.Str(1<<63, 8), all[(workload.LettersLen-8)/2:][:8]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func ExampleLetters_Str() {
	l := workload.NewLetters(workload.DefaultSeed)
	fmt.Println(l.Str(0, 20))
	// Output:
	// ltkmrtvzitsoaqmwwacv
}

func ExampleUUID() {
	fmt.Println(workload.UUID(workload.NewStream(workload.DefaultSeed, workload.StreamAdIDs), 0))
	fmt.Println(workload.UUID(workload.NewStream(workload.DefaultSeed, workload.StreamAdIDs), 1))
	// Output:
	// 3304d23d-b2a8-b503-7aed-7332b91656d8
	// f1ea9567-103d-00c3-6371-e4bf1ce08bd3
}
