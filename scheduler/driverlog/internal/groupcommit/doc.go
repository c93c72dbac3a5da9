// Package groupcommit lets calls of a driver log that overlap be written together.
//
// A [Call] waits in a [Queue]. There is no goroutine that writes: of the callers that wait one writes for all that are queued, and then
// names the next.
//
//	q := groupcommit.New(&l.mu, groupcommit.Options{Refusal: l.refusal, Failed: l.failure, Write: l.apply})
//	result, err := q.Propose(ctx, cmd)
//
// Guarantees: groups are written one at a time, calls in the order in which they came. A call whose context ends is taken back unless it
// is being written.
//
// Not here: what a log writes, and what it answers.
package groupcommit
