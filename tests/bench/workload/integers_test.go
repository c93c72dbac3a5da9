package workload_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/workload"
)

// chain computes the answer of the narrow chain as its definition reads.
func chain(size workload.Size) workload.ChainAnswer {
	n := workload.NewIntegers(workload.DefaultSeed)
	var a workload.ChainAnswer
	sums := make([]int64, workload.ChainKeys)
	for i := range size.Records() {
		x := n.X(i)
		a.Xor ^= x
		y := (x >> 3) ^ x
		if y&3 == 0 {
			continue
		}
		a.Passed++
		for _, key := range [...]int64{y & 16383, (y >> 20) & 16383} {
			a.KeySum += key
			sums[key]++
		}
	}
	a.Sums = workload.SummarizeChain(sums)
	return a
}

func TestChainWant(t *testing.T) {
	for _, size := range []workload.Size{workload.XS, workload.S, workload.M, workload.L} {
		t.Run(size.String(), func(t *testing.T) {
			want, ok := workload.ChainWant(size)
			if !ok {
				t.Fatal("no answer known")
			}
			if diff := cmp.Diff(want, chain(size)); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unknown size", func(t *testing.T) {
		if _, ok := workload.ChainWant(17); ok {
			t.Error("got an answer for 17 records")
		}
	})
}

func TestIntegersAppend(t *testing.T) {
	n := workload.NewIntegers(workload.DefaultSeed)
	got, err := n.Append([]int64{-1}, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{-1, n.X(5), n.X(6)}, got); diff != "" {
		t.Errorf("records 5 and 6 after -1 (-want +got):\n%s", diff)
	}
	for _, bad := range []workload.RangeError{{-1, 3}, {3, 2}} {
		_, err := n.Append(nil, bad.From, bad.To)
		var got *workload.RangeError
		if !errors.As(err, &got) || *got != bad {
			t.Errorf("records %d to %d: got error %v, want a RangeError", bad.From, bad.To, err)
		}
	}
}

func ExampleIntegers() {
	n := workload.NewIntegers(workload.DefaultSeed)
	for i := range 3 {
		fmt.Println(n.X(i))
	}
	// Output:
	// 8115942606142656196
	// 4579218956687901564
	// 8370533046692353427
}

func ExampleSummarizeChain() {
	sums := make([]int64, workload.ChainKeys)
	sums[0], sums[1], sums[9] = 4, 2, 7
	fmt.Printf("%+v\n", workload.SummarizeChain(sums))
	// Output:
	// {Keys:3 Key0:4 Key1:2 Largest:9 Max:7}
}
