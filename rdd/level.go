package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// A StorageLevel says where and how the partitions of a persisted RDD are kept.
type StorageLevel = lineage.StorageLevel

// MemoryOnly keeps partitions as records in memory, those there is room for. A partition that was lost,
// or had no room, is computed again.
func MemoryOnly() StorageLevel { return StorageLevel{Memory: true, Deserialized: true} }

// MemoryOnlySer keeps partitions in memory, encoded where that saves a copy: executors in the
// program's own process keep them as records all the same.
func MemoryOnlySer() StorageLevel { return StorageLevel{Memory: true} }

// MemoryAndDisk is MemoryOnly, with what has no room in memory on disk.
func MemoryAndDisk() StorageLevel { return StorageLevel{Memory: true, Disk: true, Deserialized: true} }

// MemoryAndDiskSer is MemoryOnlySer, with what has no room in memory on disk.
func MemoryAndDiskSer() StorageLevel { return StorageLevel{Memory: true, Disk: true} }

// DiskOnly keeps partitions on disk.
func DiskOnly() StorageLevel { return StorageLevel{Disk: true} }

// Replicated is level with copies on n executors, where there are so many.
func Replicated(level StorageLevel, n int) StorageLevel {
	level.Replicas = n
	return level
}

// Persist keeps each partition from the first time it is computed until Unpersist. A level that
// is already set stays, and asking for another is ErrLevelChange. A level without memory and disk, or with
// more than 39 replicas, is refused.
//
// Order: what is kept is read back in the same order.
// Cost: memory for the records of every partition that a job computed.
func (b *base) Persist(level StorageLevel) error {
	if !level.Memory && !level.Disk || level.Replicas < 0 || level.Replicas >= 40 {
		return fmt.Errorf("persist %s: %w: level %s", b, ErrArgument, level)
	}
	if b.level.CompareAndSwap(nil, &level) {
		b.watch()
		return nil
	}
	if set := b.level.Load(); set != nil && *set != level {
		return fmt.Errorf("persist %s at %s: %w: %s", b, level, ErrLevelChange, set)
	}
	return nil
}

// Cache persists the RDD at MemoryOnly, if no level is set, and returns it.
func (r *RDD[T]) Cache() *RDD[T] {
	level := MemoryOnly()
	if r.level.CompareAndSwap(nil, &level) {
		r.watch()
	}
	return r
}

// Unpersist drops what is kept; executors are told at once, and do so some time later, a running job's partitions
// when it is over. The RDD can be computed, and persisted, again, unless what was kept was its local checkpoint.
func (b *base) Unpersist() {
	if b.level.Swap(nil) != nil {
		b.home.runner.Drop(lineage.Drop{Nodes: []lineage.NodeID{b.id}})
	}
}

// Level returns the storage level, the zero level if none is set.
func (b *base) Level() StorageLevel {
	if l := b.level.Load(); l != nil {
		return *l
	}
	return StorageLevel{}
}

var _ lineage.Node = (*base)(nil)
