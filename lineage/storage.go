package lineage

import (
	"fmt"
	"strings"
)

// A StorageLevel says where and how the partitions of a persisted node are kept. The zero level keeps
// nothing.
type StorageLevel struct {
	Memory, Disk bool
	Deserialized bool // as records in memory; otherwise encoded, where the executor keeps encoded blocks
	Replicas     int  // copies on different executors; 0 means 1
}

// String returns the level's name in the field, such as MEMORY_AND_DISK_SER_2; the zero level is NONE.
func (l StorageLevel) String() string {
	var words []string
	if l.Memory {
		words = append(words, "MEMORY")
	}
	switch {
	case l.Disk && l.Memory:
		words = append(words, "AND_DISK")
	case l.Disk:
		words = append(words, "DISK_ONLY")
	case l.Memory:
		words = append(words, "ONLY")
	default:
		return "NONE"
	}
	if l.Memory && !l.Deserialized {
		words = append(words, "SER")
	}
	if l.Replicas > 1 {
		words = append(words, fmt.Sprint(l.Replicas))
	}
	return strings.Join(words, "_")
}

// Persistence says how a persisted partition is to be kept.
type Persistence struct {
	Level StorageLevel
	Codec Codec
}

// A Drop lists what scheduler and executors are to forget.
type Drop struct {
	// Scopes lose their persisted partitions and the outputs of the shuffles their nodes read.
	Scopes []Scope
	// Nodes lose their persisted partitions.
	Nodes []NodeID
	// Shuffles lose their outputs.
	Shuffles []ShuffleID
	// Broadcasts lose the values that executors have read.
	Broadcasts []BroadcastID
}

// Empty reports whether there is nothing to forget.
func (d Drop) Empty() bool {
	return len(d.Scopes) == 0 && len(d.Nodes) == 0 && len(d.Shuffles) == 0 && len(d.Broadcasts) == 0
}

// Covers reports whether d asks for the persisted partitions of node to go.
func (d Drop) Covers(node NodeID) bool {
	for _, n := range d.Nodes {
		if n == node {
			return true
		}
	}
	return d.CoversScope(node.Scope)
}

// CoversShuffle reports whether d asks for the outputs of a shuffle to go.
func (d Drop) CoversShuffle(id ShuffleID) bool {
	for _, s := range d.Shuffles {
		if s == id {
			return true
		}
	}
	return d.CoversScope(id.Node.Scope)
}

// CoversScope reports whether d asks for all blocks of a scope to go.
func (d Drop) CoversScope(scope Scope) bool {
	for _, s := range d.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}
