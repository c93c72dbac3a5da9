package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"
)

func TestTouches(t *testing.T) {
	const keys, perBatch, batches = 1_000_000, 10_000, 100
	touches, err := NewTouches(DefaultSeed, keys, perBatch)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint64, keys)
	var batch []int64
	for b := range batches {
		batch = touches.Append(batch[:0], b)
		for _, k := range batch {
			counts[k]++
		}
	}
	h := sha256.New()
	touched := 0
	for k, n := range counts {
		if n > 0 {
			touched++
			h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(k)), n))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil))[:16]; touched != 632_235 || got != "1157722c7a10afc3" {
		t.Errorf("%d keys with digest %s are touched, want 632235 with 1157722c7a10afc3", touched, got)
	}
}

func TestTouchesOfNothing(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {-1, 1}, {1, -1}} {
		var bad *RangeError
		if _, err := NewTouches(1, c[0], c[1]); !errors.As(err, &bad) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}
