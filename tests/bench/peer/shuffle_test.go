package peer_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

func textPairs(tb testing.TB, keys, n int) []workload.TextPair {
	tb.Helper()
	pairs, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: keys})
	if err != nil {
		tb.Fatal(err)
	}
	text, err := pairs.AppendText(nil, 0, n)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func TestMsgpackShuffle(t *testing.T) {
	text := textPairs(t, 100, 1000)
	place := func(key string) int { return int(key[len(key)-1]-'0') % 3 }
	want := make([]int64, 3)
	for _, p := range text {
		want[place(p.Key)] += p.Value
	}
	sums, bytes, err := peer.MsgpackShuffle([][]workload.TextPair{text[:300], nil, text[300:]}, 3, place)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("sums differ (-want +got):\n%s", diff)
	}
	if least := len(text) * 10; bytes < least {
		t.Errorf("%d bytes, want at least %d", bytes, least)
	}
	t.Run("with buffers, twice", func(t *testing.T) {
		m := peer.NewMsgpackBuffers(3, 3)
		for range 2 {
			got, size, err := m.Shuffle([][]workload.TextPair{text[:300], nil, text[300:]}, place)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sums differ (-want +got):\n%s", diff)
			}
			if size < len(text)*10 {
				t.Errorf("%d bytes, want at least %d", size, len(text)*10)
			}
		}
	})
}

func TestDeal(t *testing.T) {
	got := peer.Deal([][]int{{5, 2, 4}, {1, 3}}, 2, func(x *int) int { return *x % 2 })
	if diff := cmp.Diff([][]int{{2, 4}, {5, 1, 3}}, got); diff != "" {
		t.Errorf("buckets differ (-want +got):\n%s", diff)
	}
}

func TestSumText(t *testing.T) {
	text := textPairs(t, 10, 100)
	want := map[string]int64{}
	for _, key := range []string{"k00000000", "k00000001", "k00000002", "k00000003", "k00000004",
		"k00000005", "k00000006", "k00000007", "k00000008", "k00000009"} {
		for _, p := range text {
			if p.Key == key {
				want[key] += p.Value
			}
		}
	}
	if got := peer.SumText(text); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestJoin(t *testing.T) {
	pairs, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: 50})
	if err != nil {
		t.Fatal(err)
	}
	all, err := pairs.Append(nil, 0, 300)
	if err != nil {
		t.Fatal(err)
	}
	left, right := all[:100], all[100:]
	var want peer.JoinSum
	for _, a := range left {
		for _, b := range right {
			if a.Key == b.Key {
				want = want.Add(a.Key, a.Value, b.Value)
			}
		}
	}
	if want.Rows == 0 {
		t.Fatal("nothing to join")
	}
	if got := peer.MapJoin(left, right); got != want {
		t.Errorf("MapJoin: got %+v, want %+v", got, want)
	}
	if got := peer.ChainJoin(left, right); got != want {
		t.Errorf("ChainJoin: got %+v, want %+v", got, want)
	}
}

func TestSteps(t *testing.T) {
	l := workload.NewLineage(workload.DefaultSeed)
	xs := make([]uint64, workload.XS)
	for i := range xs {
		xs[i] = l.V(i)
	}
	for _, n := range []int{0, 1, 5} {
		steps := make([]func(uint64) uint64, n)
		for i := range steps {
			steps[i] = workload.LineageStep
		}
		want := l.Xor(len(xs), n)
		if got := peer.StepLoop(xs, n); got != want {
			t.Errorf("StepLoop of %d: got %x, want %x", n, got, want)
		}
		for _, size := range []int{0, 7, 5000} {
			if got := peer.StepCalls(xs, size, steps); got != want {
				t.Errorf("StepCalls of %d in chunks of %d: got %x, want %x", n, size, got, want)
			}
		}
	}
}
