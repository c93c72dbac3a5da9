package rdd

import "github.com/leat-io/leat/lineage"

// A Partition is a piece of an RDD as its driver sees it.
type Partition struct {
	Index int
	Hosts []string // where computing it is cheapest, see PreferredLocations
}

// Partitions returns the partitions, in order. They are found at the first call and kept, as NumPartitions is.
//
// Cost: a walk over the narrow lineage of each partition.
// Errors: why they cannot be found, such as a missing file.
func (b *base) Partitions() ([]Partition, error) {
	n, err := b.NumPartitions()
	if err != nil {
		return nil, err
	}
	parts := make([]Partition, n)
	for i := range parts {
		parts[i] = Partition{Index: i, Hosts: b.located(i)}
	}
	return parts, nil
}

// Dependencies returns what the RDD is computed from, in argument order: its parents until a checkpoint has been
// written, that checkpoint afterwards. The slice is the caller's.
func (b *base) Dependencies() []lineage.Dep { return append([]lineage.Dep(nil), b.Deps()...) }
