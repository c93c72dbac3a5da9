package rdd

// A PartitionRange is the neighbouring partitions [From, To).
type PartitionRange struct{ From, To int }

// The bounds of CoalesceTarget: no partition is aimed at that is smaller than the least, or larger than what is
// usual.
const (
	usualPartitionBytes = 64 << 20
	leastPartitionBytes = 1 << 20
)

// CoalesceTarget returns how many bytes the partitions of a shuffle should have when total bytes are to lie in at
// least minPartitions of them, if these do not get smaller than 1 MiB then: at most 64 MiB.
func CoalesceTarget(total int64, minPartitions int) int64 {
	n := int64(max(minPartitions, 1))
	share := total / n
	if total%n > 0 {
		share++
	}
	return max(min(usualPartitionBytes, share), leastPartitionBytes)
}

// PackPartitions returns groups of neighbouring partitions, of sizes bytes each, whose sums do not exceed target: each
// group takes as many as fit. A partition that is larger stands alone. Groups without a byte are left out, but of
// any partitions at least one group remains.
//
// Order: ascending.
// Source: Apache Spark, "SQL Performance Tuning", section "Coalescing Post Shuffle Partitions".
func PackPartitions(sizes []int64, target int64) []PartitionRange {
	var groups []PartitionRange
	var sum int64
	from := 0
	for i, size := range sizes {
		if i > from && (size > target || sum > target-size) {
			if sum > 0 {
				groups = append(groups, PartitionRange{from, i})
			}
			from, sum = i, 0
		}
		sum += size
	}
	if sum > 0 || len(groups) == 0 && len(sizes) > 0 {
		groups = append(groups, PartitionRange{from, len(sizes)})
	}
	return groups
}
