package workload_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestShuffleSizesWant(t *testing.T) {
	for _, o := range []workload.PairsOptions{{}, {Keys: 10_000, Zipf: true}} {
		t.Run(fmt.Sprintf("zipf=%t", o.Zipf), func(t *testing.T) {
			want, ok := workload.ShuffleSizesWant(o)
			if !ok {
				t.Fatal("no answer known")
			}
			pairs := newPairs(t, o)
			var got [workload.ShuffleSizes]int
			for i := range workload.M.Records() {
				got[workload.MixPartition(pairs.At(i).Key, len(got))]++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sizes differ (-want +got):\n%s", diff)
			}
		})
	}
	for _, o := range []workload.PairsOptions{{Keys: 100}, {Hot: true}, {Zipf: true, Steep: true}} {
		if _, ok := workload.ShuffleSizesWant(o); ok {
			t.Errorf("%+v: got an answer", o)
		}
	}
}

func TestSkewedPairs(t *testing.T) {
	share := func(o workload.PairsOptions) float64 {
		pairs := newPairs(t, o)
		zero := 0
		for i := range workload.S.Records() {
			if pairs.At(i).Key == 0 {
				zero++
			}
		}
		return float64(zero) / float64(workload.S)
	}
	for _, tt := range []struct {
		o        workload.PairsOptions
		from, to float64
	}{
		{workload.PairsOptions{Hot: true}, 0.49, 0.51},
		{workload.PairsOptions{Zipf: true, Steep: true}, 0.60, 0.615}, // 6 divided by the square of pi
		{workload.PairsOptions{Zipf: true}, 0.10, 0.105},
		{workload.PairsOptions{Steep: true}, 0, 0.001},
	} {
		if got := share(tt.o); got < tt.from || got > tt.to {
			t.Errorf("%+v: key 0 has a share of %g, want %g to %g", tt.o, got, tt.from, tt.to)
		}
		if _, ok := workload.PairsWant(tt.o); ok != (!tt.o.Hot && !(tt.o.Zipf && tt.o.Steep)) {
			t.Errorf("%+v: answer known: %t", tt.o, ok)
		}
	}
	plain, hot := newPairs(t, workload.PairsOptions{}), newPairs(t, workload.PairsOptions{Hot: true})
	for i := range workload.XS.Records() {
		a, b := plain.At(i), hot.At(i)
		if a.Value != b.Value || b.Key != 0 && a.Key != b.Key {
			t.Fatalf("pair %d is %v, and %v with a hot key", i, a, b)
		}
	}
}

func TestAppendText(t *testing.T) {
	pairs := newPairs(t, workload.PairsOptions{Keys: workload.ShuffleKeys})
	got, err := pairs.AppendText(nil, 0, workload.M.Records())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, p := range got {
		sum += p.Value
	}
	if want := int64(499_637_432); sum != want {
		t.Errorf("values sum to %d, want %d", sum, want)
	}
	if want := string(workload.AppendPairKey(nil, pairs.At(3).Key)); got[3].Key != want {
		t.Errorf("key of pair 3 is %q, want %q", got[3].Key, want)
	}
	var bad *workload.RangeError
	if _, err := pairs.AppendText(nil, 3, 2); !errors.As(err, &bad) {
		t.Errorf("records 3 to 2: got error %v, want a RangeError", err)
	}
}

func ExamplePairs_AppendText() {
	pairs, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: workload.ShuffleKeys})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := pairs.AppendText(nil, 0, 2)
	fmt.Println(text, err)
	// Output:
	// [{k00078171 207} {k00066120 856}] <nil>
}
