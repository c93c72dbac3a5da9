package workload_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestEventTime(t *testing.T) {
	tests := []struct {
		name         string
		i, perSecond int
		want         workload.Time
		batch        int
	}{
		{"record 0", 0, workload.TextPerSecond, workload.T0, 0},
		{"last line of batch 0", 9_999, workload.TextPerSecond, workload.T0 + 999, 0},
		{"first line of batch 1", 10_000, workload.TextPerSecond, workload.T0 + 1000, 1},
		{"a hundred pairs share a millisecond", 199, workload.PairsPerSecond, workload.T0 + 1, 0},
		{"last pair of batch 9", 999_999, workload.PairsPerSecond, workload.T0 + 9999, 9},
		{"no rate", 5, 0, workload.T0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := workload.EventTime(tt.i, tt.perSecond)
			if got != tt.want {
				t.Errorf("got time %d, want %d", got, tt.want)
			}
			if b := workload.Batch(got); b != tt.batch {
				t.Errorf("got batch %d, want %d", b, tt.batch)
			}
		})
	}
	t.Run("the first millisecond before T0 is in batch -1", func(t *testing.T) {
		for _, tt := range []struct {
			at   workload.Time
			want int
		}{{workload.T0 - 1, -1}, {workload.T0 - 1000, -1}, {workload.T0 - 1001, -2}} {
			if got := workload.Batch(tt.at); got != tt.want {
				t.Errorf("batch of T0%+d: got %d, want %d", tt.at-workload.T0, got, tt.want)
			}
		}
	})
	t.Run("T0 is the documented moment", func(t *testing.T) {
		want := time.Date(2023, time.November, 14, 22, 13, 20, 0, time.UTC).UnixMilli()
		if int64(workload.T0) != want {
			t.Errorf("got %d, want %d", workload.T0, want)
		}
	})
}

func TestSize(t *testing.T) {
	for _, s := range []workload.Size{workload.XS, workload.S, workload.M, workload.L} {
		got, err := workload.ParseSize(s.String())
		if err != nil || got != s {
			t.Errorf("parse %s: got %d records and error %v, want %d", s, got, err, s.Records())
		}
	}
	if got, want := workload.Size(7).String(), "7 records"; got != want {
		t.Errorf("size without a name: got %q, want %q", got, want)
	}
	_, err := workload.ParseSize("XXL")
	var bad *workload.SizeError
	if !errors.As(err, &bad) || bad.Name != "XXL" {
		t.Errorf("parse XXL: got error %v, want a SizeError", err)
	}
}

func TestOverheads(t *testing.T) {
	jobs := workload.Overheads()
	if got, want := len(jobs), 12; got != want {
		t.Fatalf("got %d jobs, want %d", got, want)
	}
	if got, want := jobs[0].String()+" "+jobs[11].String(), "stages=1/tasks=1 stages=2/tasks=1024"; got != want {
		t.Errorf("got first and last %q, want %q", got, want)
	}
	if got := workload.LogWriters(); len(got) != 4 || got[3] != 512 {
		t.Errorf("got log writers %v, want 1, 8, 64, 512", got)
	}
}

func ExampleEventTime() {
	t := workload.EventTime(25_000, workload.TextPerSecond)
	fmt.Println(t-workload.T0, workload.Batch(t))
	// Output:
	// 2500 2
}

func ExampleParseSize() {
	size, err := workload.ParseSize("S")
	fmt.Println(size.Records(), err)
	_, err = workload.ParseSize("tiny")
	fmt.Println(err)
	// Output:
	// 100000 <nil>
	// size "tiny": want XS, S, M or L
}
