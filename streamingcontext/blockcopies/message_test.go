package blockcopies

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// bytesOf returns which of the first bytes a coverage has.
func bytesOf(c coverage) (has [64]bool) {
	for _, p := range c {
		for i := p.From; i < min(p.To, 64); i++ {
			has[i] = true
		}
	}
	return has
}

func drawCoverage(t *rapid.T, name string) (c coverage) {
	for range rapid.IntRange(0, 6).Draw(t, name) {
		from := rapid.Int64Range(0, 60).Draw(t, "from")
		c = c.add(receivedlog.Part{From: from, To: from + rapid.Int64Range(0, 20).Draw(t, "length")})
	}
	return c
}

// Coverages are what sets of bytes are.
func TestCoverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCoverage(t, "a"), drawCoverage(t, "b")
		end := rapid.Int64Range(0, 64).Draw(t, "end")
		hasA, hasB, rest, upTo := bytesOf(a), bytesOf(b), bytesOf(a.without(b)), bytesOf(a.upTo(end))
		sum := a
		for _, p := range b {
			sum = sum.add(p)
		}
		both := bytesOf(sum)
		for i := range hasA {
			if rest[i] != (hasA[i] && !hasB[i]) || upTo[i] != (hasA[i] && int64(i) < end) || both[i] != (hasA[i] || hasB[i]) {
				t.Fatalf("byte %d of %v and %v: without %v, up to %d %v, both %v", i, a, b, a.without(b), end, a.upTo(end), sum)
			}
		}
		if !a.valid() || !a.without(b).valid() || !sum.valid() {
			t.Fatalf("%v, %v or %v is not in order", a, a.without(b), sum)
		}
	})
}

func TestInventoriesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []holding
		for range rapid.IntRange(0, 5).Draw(t, "segments") {
			p := place{rapid.Uint64Range(1, 4).Draw(t, "epoch"), rapid.Uint64Range(1, 1<<62).Draw(t, "segment")}
			for _, part := range drawCoverage(t, "parts") {
				all = addPart(all, p, part)
			}
		}
		low := place{rapid.Uint64().Draw(t, "lowest epoch"), rapid.Uint64().Draw(t, "lowest segment")}
		lowest, got, err := decodeInventory(appendInventory(nil, low, all))
		if lowest != low {
			t.Fatalf("lowest is %v, want %v", lowest, low)
		}
		if diff := cmp.Diff(all, got, cmp.AllowUnexported(holding{}, place{})); err != nil || diff != "" && len(all) > 0 {
			t.Fatalf("%v %s", err, diff)
		}
	})
}

// Whatever comes, it is a message, none, or an inventory that holds what one may.
func FuzzMessage(f *testing.F) {
	var buf bytes.Buffer
	_ = writeMessage(&buf, kindHolding, appendInventory(nil, place{5, 1}, []holding{{place{5, 1}, coverage{{From: 0, To: 40}, {From: 100, To: 200}}}}))
	f.Add(buf.Bytes())
	f.Add([]byte{0, 0, 0, 2, 'L', 5})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readMessage(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(m.body) > len(data) {
			t.Fatal("more than there was")
		}
		_, all, err := decodeInventory(m.body)
		if err != nil {
			return
		}
		for i, h := range all {
			if !h.parts.valid() || i > 0 && !all[i-1].before(h.place) {
				t.Fatalf("%v", all)
			}
		}
		_, _, _, _ = decodeData(m.body)
	})
}
