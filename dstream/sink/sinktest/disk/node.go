package disk

import (
	"io/fs"
	"maps"
	"slices"
	"time"
)

// A node is a file or a folder. Several names may lead to a file.
type node struct {
	id  uint64
	dir bool

	data   []byte // of a file
	synced int    // how much of data is durable

	names   map[string]*node // of a folder, as programs see it
	durable map[string]*node // as the next start would, without pending
	pending []change         // since the last SyncDir
}

// A change is a name that was set, or removed where to is nil. Changes of one call share a number.
type change struct {
	call uint64
	name string
	to   *node
}

func newDir(id uint64) *node {
	return &node{id: id, dir: true, names: make(map[string]*node), durable: make(map[string]*node)}
}

// set changes a name of a folder.
func (n *node) set(call uint64, name string, to *node) {
	n.pending = append(n.pending, change{call, name, to})
	put(n.names, name, to)
}

func put(names map[string]*node, name string, to *node) {
	if to == nil {
		delete(names, name)
		return
	}
	names[name] = to
}

// sync makes all names of a folder durable.
func (n *node) sync() {
	n.durable, n.pending = maps.Clone(n.names), nil
}

// sorted returns the names of a folder in order.
func sorted(names map[string]*node) []string { return slices.Sorted(maps.Keys(names)) }

// info describes a node.
type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) IsDir() bool                { return i.dir }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

func (n *node) info(name string) info { return info{name: name, size: int64(len(n.data)), dir: n.dir} }
