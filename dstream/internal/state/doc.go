// Package state holds keyed state that changes from batch to batch: version n is a function of
// version n-1 and batch n.
//
// The nouns: a [Version] is immutable; an [Update] starts from one, is told what changed, and ends as the next. The version it
// started from stays as it was, so a batch can be computed again and an output of an earlier batch can still read.
//
//	older version ----------> version ----------> newest version
//	  | undo                    | undo               |
//	  what the next replaced    what the next ...    the table
//
// Versions share one table, which holds the newest of them. An update gathers its changes beside it and swaps them in at
// the end; what they replaced stays with the version before, where it says what that one had. So a batch costs what it touches,
// however many keys there are; reading a version that is not the newest costs what was changed since as well, and goes when
// nobody holds it any more. A second update from one version, as a batch that is computed again makes, copies the table. Of two that
// are under way at once the one that touched keys first goes on beside a copy.
//
//	u := before.Update(hasher, 0)
//	u.Put("ada", 3)
//	u.Delete("bo")
//	after := u.Done()
//	old, _ := before.Get("ada")
//	new, _ := after.Get("ada")
//
// Guarantees: versions may be read from any goroutine while updates go on; keys come in the order in which they first got
// state, and the same changes give the same order. No function of the program is called under a lock.
//
// A version is one record of an RDD, kept like any partition. It crosses process borders as its entries in order, by package
// codec, and is kept in files as codec.Incremental says: what changed since the file before, which the versions between the two tell,
// and a slice of the table.
//
// Not here: what calls the functions of a program, in package dstream.
//
// Source: Baker, "Shallow Binding Makes Functional Arrays Fast", SIGPLAN Notices 1991, for versions as differences from
// the newest one.
package state
