package dstream

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

func packed[K comparable, V any](t *testing.T, rows []rdd.Pair[K, V]) *packedBatch[K, V] {
	h, err := keyed.HasherFor[K]()
	if err != nil {
		t.Fatal(err)
	}
	b := &packedBatch[K, V]{rows: keyed.NewPacked[K, V](h, 0)}
	b.rows.Append(rows)
	return b
}

func TestPackedBatchIsSharedAndCrossesAsARecord(t *testing.T) {
	if codec.CloneFunc[*packedBatch[string, []int]]() != nil {
		t.Error("a batch would be copied for each reader")
	}
	rows := []rdd.Pair[any, []int]{{Key: "a", Value: []int{1}}, {Key: 2, Value: []int{}}, {Key: 3.5, Value: []int{4, 5}}}
	c, err := codec.For[*packedBatch[any, []int]]()
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.Append(nil, []*packedBatch[any, []int]{packed(t, rows), packed[any, []int](t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(data)
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if d := cmp.Diff(rows, got[0].rows.Pairs(nil, 0, got[0].rows.Len())); d != "" || got[1].rows.Len() != 0 {
		t.Errorf("%d rows in the empty batch, and in the other (-want +got):\n%s", got[1].rows.Len(), d)
	}
}

func TestDamagedPackedBatchesAreRefused(t *testing.T) {
	data, err := packed(t, []rdd.Pair[string, int]{{Key: "a", Value: 1}, {Key: "b", Value: 2}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if err := new(packedBatch[string, int]).UnmarshalBinary(data[:i]); err == nil {
			t.Errorf("%d of %d bytes were taken", i, len(data))
		}
	}
}

func TestFootprintOfAPackedBatchCountsWhatValuesReferTo(t *testing.T) {
	var rows []rdd.Pair[int, []byte]
	for k := range 100 {
		rows = append(rows, rdd.Pair[int, []byte]{Key: k, Value: make([]byte, 1000)})
	}
	if n := packed(t, rows).Footprint(); n < 100_000 || n > 150_000 {
		t.Errorf("%d bytes for 100 values of 1000 bytes", n)
	}
	if n := (*packedBatch[int, []byte])(nil).Footprint(); n != 0 {
		t.Errorf("%d bytes for none", n)
	}
}
