package rdd

import (
	"context"
	"fmt"
)

// LocalCheckpoint marks the RDD to have its lineage cut without files: after the first job that evaluates it,
// or an RDD derived from it, the partitions that executors do not hold yet are computed and kept, and from then on
// they are all there is of it. It is for lineages that grow long, where losing an executor may cost the program its
// work. It takes over from a mark that Checkpoint made.
//
// Cost: the level becomes MEMORY_AND_DISK, or gets the disk if one is set; a job for the missing partitions.
// Errors: ErrCheckpointTooLate once a job has run on the RDD. A partition that is lost afterwards, with its
// executor or by Unpersist, fails the jobs that need it with ErrCheckpointLost.
func (r *RDD[T]) LocalCheckpoint() error {
	if err := r.mark(r.newMark(true)); err != nil {
		return err
	}
	if m := r.checkpoint.marked.Load(); m != nil && m.local {
		r.keepOnDisk()
	}
	return nil
}

// keepOnDisk sets MEMORY_AND_DISK, or adds the disk to the level that is set.
func (b *base) keepOnDisk() {
	for {
		old, level := b.level.Load(), MemoryAndDisk()
		if old != nil {
			level = *old
			level.Disk = true
		}
		if old != nil && *old == level || b.level.CompareAndSwap(old, &level) {
			b.watch()
			return
		}
	}
}

// keepLocally has the missing partitions kept and makes what is kept the RDD's origin.
func (b *base) keepLocally(ctx context.Context, m *mark, parts int) error {
	b.keepOnDisk() // Unpersist may have taken the level away
	inspector, _ := b.home.runner.(Inspector)
	missing := func() []int {
		if inspector == nil {
			return allParts(parts) // what is kept is only read again
		}
		return missingParts(inspector.Kept(b.id), parts)
	}
	if lacking := missing(); len(lacking) > 0 {
		if err := b.runMarked(ctx, "localCheckpoint", lacking, m.keep); err != nil {
			return err
		}
	}
	if inspector != nil {
		if lacking := missing(); len(lacking) > 0 {
			return fmt.Errorf("%d of %d partitions are not kept: %w", len(lacking), parts, errNoRoom)
		}
	}
	// Being kept does not make the records any more certain than what they were made of.
	b.declare(b.Determinism())
	b.checkpoint.local.Store(true)
	b.cut("localCheckpoint", parts, m)
	return nil
}

// missingParts are the partitions below n that kept is not true for.
func missingParts(kept []bool, n int) []int {
	var missing []int
	for i := range n {
		if i >= len(kept) || !kept[i] {
			missing = append(missing, i)
		}
	}
	return missing
}
