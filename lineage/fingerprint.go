package lineage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Fingerprint returns 16 hex digits that two graphs share when they were built by the same
// calls: operators, dependency kinds, edges and their order. Ids, partition counts, call sites and
// closures do not enter, so the graph of one batch has the fingerprint of the next, and a build
// that moved a line still agrees.
//
// Cost: one pass over the graph.
func Fingerprint(final Node) string {
	// Nodes are numbered in the order met, so that an edge is the same two numbers everywhere.
	h := sha256.New()
	number := map[NodeID]uint64{}
	buf := make([]byte, 0, 64)
	Walk(final, func(n Node) bool {
		buf = appendNumber(buf[:0], number, n.ID())
		buf = binary.AppendUvarint(buf, uint64(len(n.Op())))
		buf = append(buf, n.Op()...)
		deps := n.Deps()
		buf = binary.AppendUvarint(buf, uint64(len(deps)))
		for _, d := range deps {
			kind := byte('n')
			if d.Shuffle != nil {
				kind = 's'
			}
			buf = append(buf, kind)
			buf = appendNumber(buf, number, d.Parent.ID())
		}
		h.Write(buf)
		return true
	})
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func appendNumber(buf []byte, number map[NodeID]uint64, id NodeID) []byte {
	n, ok := number[id]
	if !ok {
		n = uint64(len(number))
		number[id] = n
	}
	return binary.AppendUvarint(buf, n)
}
