package workload_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/workload"
)

func newPairs(tb testing.TB, o workload.PairsOptions) *workload.Pairs {
	tb.Helper()
	pairs, err := workload.NewPairs(workload.DefaultSeed, o)
	if err != nil {
		tb.Fatal(err)
	}
	return pairs
}

func TestPairsWant(t *testing.T) {
	for _, o := range []workload.PairsOptions{
		{Keys: 100}, {}, {Keys: 1_000_000},
		{Keys: 100, Zipf: true}, {Keys: 10_000, Zipf: true}, {Keys: 1_000_000, Zipf: true},
	} {
		t.Run(fmt.Sprintf("keys=%d/zipf=%t", o.Keys, o.Zipf), func(t *testing.T) {
			want, ok := workload.PairsWant(o)
			if !ok {
				t.Fatal("no answer known")
			}
			pairs := newPairs(t, o)
			seen := make([]bool, pairs.Keys())
			var got workload.PairsAnswer
			for i := range workload.M.Records() {
				p := pairs.At(i)
				got.Sum += p.Value
				if !seen[p.Key] {
					seen[p.Key] = true
					got.Distinct++
				}
				if p.Key == 0 {
					got.Key0 += p.Value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unknown number of keys", func(t *testing.T) {
		if _, ok := workload.PairsWant(workload.PairsOptions{Keys: 17}); ok {
			t.Error("got an answer for 17 keys")
		}
	})
}

func TestPairs(t *testing.T) {
	t.Run("appends a range", func(t *testing.T) {
		pairs := newPairs(t, workload.PairsOptions{})
		got, err := pairs.Append([]workload.Pair{{Key: -1}}, 8, 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]workload.Pair{{Key: -1}, pairs.At(8), pairs.At(9)}, got); diff != "" {
			t.Errorf("records 8 and 9 (-want +got):\n%s", diff)
		}
		var bad *workload.RangeError
		if _, err := pairs.Append(nil, 10, 8); !errors.As(err, &bad) {
			t.Errorf("records 10 to 8: got error %v, want a RangeError", err)
		}
	})
	t.Run("one pair in fifty is late, by less than five seconds", func(t *testing.T) {
		pairs := newPairs(t, workload.PairsOptions{})
		late := 0
		for i := range 100_000 {
			by := workload.EventTime(i, workload.PairsPerSecond) - pairs.LateTime(i)
			if by < 0 || by >= 5000 {
				t.Fatalf("pair %d is late by %d ms", i, by)
			}
			if by > 0 {
				late++
			}
		}
		if late < 1800 || late > 2200 {
			t.Errorf("got %d late pairs, want about 2000", late)
		}
	})
	t.Run("keys as text", func(t *testing.T) {
		for key, want := range map[int64]string{0: "k00000000", 7: "k00000007", 999_999: "k00999999", 99_999_999: "k99999999"} {
			if got := string(workload.AppendPairKey(nil, key)); got != want {
				t.Errorf("key %d: got %q, want %q", key, got, want)
			}
		}
		if got := string(workload.AppendPairKey([]byte("abc"), 12)); got != "abck00000012" {
			t.Errorf("after other bytes: got %q", got)
		}
	})
	t.Run("refuses numbers of keys it cannot have", func(t *testing.T) {
		for _, keys := range []int{-1, workload.MaxItems + 1} {
			_, err := workload.NewPairs(1, workload.PairsOptions{Keys: keys, Zipf: true})
			var bad *workload.ZipfError
			if !errors.As(err, &bad) || bad.Items != keys {
				t.Errorf("%d keys: got error %v, want a ZipfError", keys, err)
			}
		}
	})
}

func TestWindow(t *testing.T) {
	tests := []struct {
		name                 string
		batch, length, slide int
		first, last          int
		emitted              bool
	}{
		{"full", 9, 5, 1, 5, 9, true},
		{"before there are enough batches", 2, 5, 1, 0, 2, true},
		{"between slides", 4, 6, 2, 0, 4, false},
		{"at a slide", 5, 6, 2, 0, 5, true},
		{"tumbling", 11, 6, 6, 6, 11, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, last, emitted := workload.Window(tt.batch, tt.length, tt.slide)
			if first != tt.first || last != tt.last || emitted != tt.emitted {
				t.Errorf("got %d to %d, %t; want %d to %d, %t", first, last, emitted, tt.first, tt.last, tt.emitted)
			}
		})
	}
}

func ExamplePairs() {
	pairs, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: 100, Zipf: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		p := pairs.At(i)
		fmt.Println(p.Key, p.Value, string(workload.AppendPairKey(nil, p.Key)))
	}
	// Output:
	// 31 207 k00000031
	// 16 856 k00000016
	// 13 804 k00000013
}

func ExampleWindow() {
	for batch := range 4 {
		first, last, emitted := workload.Window(batch, 3, 1)
		fmt.Println(first, last, emitted)
	}
	// Output:
	// 0 0 true
	// 0 1 true
	// 0 2 true
	// 1 3 true
}
