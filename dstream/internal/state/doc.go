// Package state holds keyed state that changes from batch to batch: version n is a function of
// version n-1 and batch n.
//
// A [Version] is immutable. An [Update] starts from one, is told what changed, and ends as the next;
// the version it started from stays as it was, so a batch can be computed again and an output of an
// earlier batch can still read. Versions share what did not change: a version is a few tables, the
// oldest and largest first, each holding what changed since the one before. Tables are merged when a
// younger one has grown to a quarter of an older one, so a key that is touched is copied a number of
// times that grows with the logarithm of the number of keys, and a batch costs what it touches.
//
// A version is one record of an RDD, kept like any partition. It crosses process borders as its
// live pairs in order, by package codec.
package state
