// Package keyed holds pairs, the identity and the fixed hash of their keys, and the insertion-ordered hash table that every
// keyed operator reduces into.
//
// The nouns, in the order to read them: [Pair], [Option], [Hasher] (what makes two keys one key, and which partition a key
// belongs to), [Table] (one entry per key, in the order keys first came), the bulk loops [Reduce], [Combine], [Count], [Add],
// [Merge] and [Enumerate], [PlacePairs], [Packed] (rows whose keys are as a table holds them), [MergeByHash] and [EachMerged] (of
// rows in the order of their hashes, where tables would be larger than the caches), and [Block] (the entries of one
// partition, ready to be moved).
//
//	h, err := keyed.HasherFor[string]()
//	if err != nil {
//		return err // pointers, channels and their like are no keys
//	}
//	t := keyed.New[string, int64](h, 0)
//	keyed.Count(t, words)
//	for _, p := range t.Pairs(nil, 0, t.Len()) {
//		fmt.Println(p.Key, p.Value)
//	}
//
// Guarantees. The hash of a key is the same in every process, on every machine and after every restart: docs/keys.md
// defines it and a test pins it. Entries are met in insertion order, always. Keys whose hashes agree are never taken for one
// another. NaN is one key, and so is zero, whatever its sign. A table keeps no memory of its caller alive: the bytes of
// string keys are copied, also inside structs and arrays.
//
// Who may call what. A [Hasher] may be used by any number of goroutines at once. A [Table] and a [Block] belong to one
// goroutine at a time; a [Packed] or a [Block] that nobody changes any more may be read by many. When HasherFor's answer is [Hasher.Dynamic], call [Hasher.Check] on every key before it goes into a
// table. User functions given to the bulk loops must not touch the table they are called for.
//
// Not here: range partitioning and ordering (package rdd), bytes on the wire (package rdd/codec), spilling.
//
// Sources: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, on partitioners and keyed operations; Neumann and
// Freitag, "Umbra: A Disk-Based System with In-Memory Performance", CIDR 2020, on short strings held inline; Boncz et al.,
// "MonetDB/X100: Hyper-Pipelining Query Execution", CIDR 2005, on doing one step for many records at a time.
package keyed
