package dstream

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxGiven bounds the bytes of a name or UID of a stream.
const maxGiven = 128

// Named gives the stream a name for people, who read it where an earlier build of the program is compared with this one, and returns the
// stream. A later build that names a stream with memory otherwise is refused, unless both have the same UID.
//
// Errors: Start reports, as *BuildError, a name that is not 1 to 128 bytes of printable text, and ErrContextActive.
func (s *DStream[T]) Named(name string) *DStream[T] {
	s.give("name", name, func(n *node) { n.name = name })
	return s
}

// UID says which stream this is, in every build of the program, and returns it. What batches before have left, such as state, is that of the
// stream with this UID: a later build may name it otherwise, and is refused where the stream of the same number has another UID, as
// where two states of the same types are declared in the other order. It does not stand for the number, which must be the same too.
//
// Without UIDs streams are known by number and name. A UID may be given to a stream that had none.
//
// Errors: Start reports, as *BuildError, a UID that is not 1 to 128 bytes of printable text or that another stream has, and ErrContextActive.
//
// Source: Apache Flink documentation, "Assigning Operator IDs".
func (s *DStream[T]) UID(uid string) *DStream[T] {
	s.give("UID", uid, func(n *node) { n.uid = uid })
	return s
}

// give sets a name or UID of the node that keeps what the stream needs.
func (n *node) give(what, text string, set func(n *node)) {
	if n.checkpointOf != nil {
		n = n.checkpointOf
	}
	g := n.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	var err error
	switch {
	case g.started:
		err = ErrContextActive
	case !isGiven(text):
		err = fmt.Errorf("%w: %s %.140q, want 1 to %d bytes of printable text", ErrArgument, what, text, maxGiven)
	}
	for _, other := range g.nodes {
		if err == nil && what == "UID" && other != n && other.uid == text {
			err = fmt.Errorf("%w: UID %q is that of %s[%d] too, at %s", ErrArgument, text, other.op, other.id, other.site)
		}
	}
	if err != nil {
		g.errs = append(g.errs, &BuildError{Op: n.op, Site: n.site, Err: err})
		return
	}
	set(n)
}

func isGiven(text string) bool {
	if text == "" || len(text) > maxGiven || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
