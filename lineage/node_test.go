package lineage_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
)

func nodeID(batch int64, stream, ordinal int32) lineage.NodeID {
	return lineage.NodeID{Scope: lineage.Scope{Batch: batch, Stream: stream}, Ordinal: ordinal}
}

func TestNodeID(t *testing.T) {
	t.Run("String", func(t *testing.T) {
		tests := []struct {
			id   lineage.NodeID
			want string
		}{
			{nodeID(0, 0, 0), "0"},
			{nodeID(0, 0, 3), "3"},
			{nodeID(2000, 1, 3), "3@2000.1"},
			{nodeID(0, 1, 3), "3@0.1"},
			{nodeID(-5, 0, 3), "3@-5.0"},
		}
		for _, tt := range tests {
			if got := tt.id.String(); got != tt.want {
				t.Errorf("%#v: %q, want %q", tt.id, got, tt.want)
			}
		}
	})
	t.Run("Compare_goes_by_batch_then_stream_then_ordinal", func(t *testing.T) {
		sorted := []lineage.NodeID{
			nodeID(-1, 9, 9), nodeID(0, 0, 0), nodeID(0, 0, 1), nodeID(0, 1, 0), nodeID(1000, 0, 0), nodeID(1000, 2, 1), nodeID(1000, 2, 2),
		}
		for i, a := range sorted {
			for j, b := range sorted {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got := a.Compare(b); got != want {
					t.Errorf("%s.Compare(%s) = %d, want %d", a, b, got, want)
				}
			}
		}
		shuffled := slices.Clone(sorted)
		slices.Reverse(shuffled)
		slices.SortFunc(shuffled, lineage.NodeID.Compare)
		if diff := cmp.Diff(sorted, shuffled); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestShuffleID(t *testing.T) {
	t.Run("String_names_the_position_past_the_first", func(t *testing.T) {
		id := lineage.ShuffleID{Node: nodeID(2000, 1, 3)}
		if got := id.String(); got != "3@2000.1" {
			t.Errorf("%q, want 3@2000.1", got)
		}
		id.Dep = 2
		if got := id.String(); got != "3@2000.1#2" {
			t.Errorf("%q, want 3@2000.1#2", got)
		}
	})
}

func TestDep(t *testing.T) {
	var g graph
	p := g.source(3)
	t.Run("OneToOne_reads_the_same_partition/L1", func(t *testing.T) {
		d := lineage.OneToOne(p)
		if d.Shuffle != nil || d.Parent != lineage.Node(p) {
			t.Errorf("%+v is no narrow dependency on the parent", d)
		}
		if diff := cmp.Diff([]int{2}, d.Narrow(2)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("Range_reads_its_own_slice_of_a_union/L1", func(t *testing.T) {
		d := lineage.Range(p, 4, 3)
		want := [][]int{3: nil, 4: {0}, 5: {1}, 6: {2}, 7: nil}
		for part, w := range want {
			if diff := cmp.Diff(w, d.Narrow(part)); diff != "" {
				t.Errorf("partition %d (-want +got):\n%s", part, diff)
			}
		}
	})
}
