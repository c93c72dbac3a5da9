package rdd

// SetName calls the RDD by a name in DebugString, and returns it. It changes nothing else: names are for people, so they
// are not part of fingerprints.
func (r *RDD[T]) SetName(name string) *RDD[T] {
	r.name.Store(&name)
	return r
}

// Name returns what SetName called the RDD, empty if nothing did.
func (b *base) Name() string {
	if name := b.name.Load(); name != nil {
		return *name
	}
	return ""
}
