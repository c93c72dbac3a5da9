package lineage

import "fmt"

// Scope says who made a node: the output or stream with number Stream while batch Batch was
// generated. The zero Scope holds what a program builds by hand, outside any batch.
type Scope struct {
	Batch  int64 // batch time in milliseconds since the epoch
	Stream int32 // number of the stream or output within its graph, from 1
}

// NodeID names a node within one application: the scope it was made in and its ordinal there.
// Two processes that run the same program give the same node the same id.
type NodeID struct {
	Scope
	Ordinal int32
}

// String returns "3" for a node made by hand and "3@2000.1" for one made for batch 2000, stream 1.
func (id NodeID) String() string {
	if id.Scope == (Scope{}) {
		return fmt.Sprintf("%d", id.Ordinal)
	}
	return fmt.Sprintf("%d@%d.%d", id.Ordinal, id.Batch, id.Stream)
}

// Compare orders ids by batch, stream and ordinal.
func (id NodeID) Compare(other NodeID) int {
	switch {
	case id.Batch != other.Batch:
		return sign(id.Batch < other.Batch)
	case id.Stream != other.Stream:
		return sign(id.Stream < other.Stream)
	case id.Ordinal != other.Ordinal:
		return sign(id.Ordinal < other.Ordinal)
	}
	return 0
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

// A Node is one RDD as lineage sees it.
//
// All methods may be called from any goroutine, often, and must not block on other tasks.
type Node interface {
	ID() NodeID
	// Op is the operator's name in the field's words, such as "flatMap". It is the same in every
	// process and build: never derived from a closure.
	Op() string
	// Site is the file and line of the call that built the node, for people to read.
	Site() string
	// NumPartitions is the number of partitions. It is found once (a source may look at its files
	// then) and kept; a failure is kept as well and fails every job on the node.
	NumPartitions() (int, error)
	// Deps are the dependencies, in argument order. They change once at most: a checkpoint that has
	// been written replaces them. Callers must not change the slice.
	Deps() []Dep
}

// A Dep is one dependency of a node. Exactly one of Narrow and Shuffle is set.
type Dep struct {
	Parent Node
	// Narrow gives the parent partitions that child partition part reads, in order.
	Narrow func(part int) []int
	// Shuffle is set where all parent partitions are redistributed.
	Shuffle *Shuffle
}

// OneToOne is the narrow dependency of a child whose partition i reads parent partition i.
func OneToOne(parent Node) Dep {
	return Dep{Parent: parent, Narrow: func(part int) []int { return []int{part} }}
}

// Range is the narrow dependency of a child whose partitions [start, start+n) are the parent's
// partitions [0, n), as a union's are. Other child partitions read nothing from this parent.
func Range(parent Node, start, n int) Dep {
	return Dep{Parent: parent, Narrow: func(part int) []int {
		if part < start || part >= start+n {
			return nil
		}
		return []int{part - start}
	}}
}

// ShuffleID names a shuffle: the node that reads it and the position of the dependency there. A
// node that is used twice shuffles once; the same expression built twice shuffles twice.
type ShuffleID struct {
	Node NodeID
	Dep  int32
}

// String returns the reading node's id and, past the first dependency, its position.
func (id ShuffleID) String() string {
	if id.Dep == 0 {
		return id.Node.String()
	}
	return fmt.Sprintf("%s#%d", id.Node, id.Dep)
}
