package boltlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// This file reads the page format of bbolt without bbolt. A page that is damaged makes bbolt panic, some of it in goroutines
// of its own, where nobody can recover; and it falls back to the transaction before the last without a word where the
// newest meta page is damaged. So a file is read whole by this code first, which checks every bound, and bbolt opens only
// what has passed.
//
//	page      id 8, flags 2, count 2, overflow 4, then elements, keys and values
//	meta      magic 4, version 4, page size 4, flags 4, root 8, sequence 8, freelist 8, high 8, txid 8, FNV-1a 8
//	leaf      flags 4, position 4, key size 4, value size 4
//	branch    position 4, key size 4, page 8
//	bucket    root 8, sequence 8; a root of 0 has its only page inline behind it
const (
	pageSize    = 4096
	pageHeader  = 16
	metaSize    = 64
	elementSize = 16
	bucketSize  = 16

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10

	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	noFreelist   = 1<<64 - 1
	leafIsBucket = 1

	// maxDepth bounds the depth of a tree: with two keys a page it is that of 2^40 entries.
	maxDepth = 40
)

// bbolt writes numbers as the machine holds them.
var order = binary.NativeEndian

// A meta is the root of one transaction.
type meta struct {
	root, freelist, high, txid uint64
}

// A pageFile is a bbolt file that is read.
type pageFile struct {
	path string
	r    io.ReaderAt
	size int64

	meta meta            // of the transaction that is read
	seen map[uint64]bool // pages that belong to it
}

func (f *pageFile) corrupt(page uint64, format string, args ...any) error {
	return &CorruptError{Path: f.path, Page: int64(page), What: fmt.Sprintf(format, args...)}
}

// readMeta returns the meta on page 0 or 1.
func (f *pageFile) readMeta(page uint64) (meta, error) {
	var b [pageHeader + metaSize]byte
	if _, err := f.r.ReadAt(b[:], int64(page)*pageSize); err != nil {
		return meta{}, &CorruptError{Path: f.path, Page: int64(page), What: "meta page cannot be read", Err: err}
	}
	m := b[pageHeader:]
	sum := fnv.New64a()
	sum.Write(m[:metaSize-8])
	switch {
	case order.Uint64(b[:]) != page || order.Uint16(b[8:]) != metaPage:
		return meta{}, f.corrupt(page, "not a meta page")
	case order.Uint32(m) != metaMagic || order.Uint32(m[4:]) != metaVersion:
		return meta{}, f.corrupt(page, "not of a bbolt file of version %d", metaVersion)
	case order.Uint64(m[metaSize-8:]) != sum.Sum64():
		return meta{}, f.corrupt(page, "wrong checksum of the meta page")
	case order.Uint32(m[8:]) != pageSize:
		return meta{}, f.corrupt(page, "page size %d, want %d", order.Uint32(m[8:]), pageSize)
	}
	got := meta{root: order.Uint64(m[16:]), freelist: order.Uint64(m[32:]), high: order.Uint64(m[40:]), txid: order.Uint64(m[48:])}
	if got.txid%2 != page {
		return meta{}, f.corrupt(page, "transaction %d on the page of the other meta", got.txid)
	}
	return got, nil
}

// use sets the transaction to read.
func (f *pageFile) use(m meta) error {
	f.meta, f.seen = m, map[uint64]bool{}
	if m.high > uint64(f.size)/pageSize {
		return f.corrupt(m.txid%2, "%d pages are in use, the file has %d: it has been cut short", m.high, f.size/pageSize)
	}
	return nil
}

// A visit gets one key and value of a leaf; they are the reader's.
type visit func(page uint64, key, value []byte) error

// buckets calls fn for every bucket of the file, by name.
func (f *pageFile) buckets(fn func(name []byte, page uint64, bucket []byte) error) error {
	if f.meta.freelist != noFreelist {
		return f.corrupt(f.meta.txid%2, "free list on page %d, want none", f.meta.freelist)
	}
	return f.tree(f.meta.root, leafIsBucket, func(page uint64, name, bucket []byte) error { return fn(name, page, bucket) })
}

// bucket calls fn for every key of the bucket whose value in its parent, on the page named, is b.
func (f *pageFile) bucket(page uint64, b []byte, fn visit) error {
	if len(b) < bucketSize || order.Uint64(b[8:]) != 0 {
		return f.corrupt(page, "malformed bucket")
	}
	root := order.Uint64(b)
	if root != 0 {
		if len(b) != bucketSize {
			return f.corrupt(page, "malformed bucket")
		}
		return f.tree(root, 0, fn)
	}
	inline := b[bucketSize:]
	if len(inline) < pageHeader || order.Uint64(inline) != 0 || order.Uint16(inline[8:]) != leafPage || order.Uint32(inline[12:]) != 0 {
		return f.corrupt(page, "malformed inline bucket")
	}
	w := walk{f: f, fn: fn}
	return w.leaf(page, inline, nil)
}

func (f *pageFile) tree(root uint64, flags uint32, fn visit) error {
	w := walk{f: f, flags: flags, fn: fn}
	return w.page(root, 0, nil, nil)
}

// A walk goes through the keys of one tree in order.
type walk struct {
	f     *pageFile
	flags uint32 // what all leaf elements must have
	fn    visit
	last  []byte // the key before
}

// page visits what is below page id, whose keys must be from low on and below high; nil is no bound.
func (w *walk) page(id uint64, depth int, low, high []byte) error {
	f := w.f
	if depth > maxDepth {
		return f.corrupt(id, "tree of more than %d levels", maxDepth)
	}
	p, err := f.read(id)
	if err != nil {
		return err
	}
	n := int(order.Uint16(p[10:]))
	if n == 0 && depth > 0 {
		return f.corrupt(id, "empty page")
	}
	if len(p) < pageHeader+n*elementSize {
		return f.corrupt(id, "%d elements do not fit the page", n)
	}
	switch order.Uint16(p[8:]) {
	case leafPage:
		if n > 0 && low != nil && bytes.Compare(firstKey(p), low) < 0 {
			return f.corrupt(id, "keys before those of the page above")
		}
		return w.leaf(id, p, high)
	case branchPage:
	default:
		return f.corrupt(id, "neither a branch nor a leaf")
	}
	if n == 0 {
		return f.corrupt(id, "empty branch")
	}
	keys := make([][]byte, n+1)
	keys[n] = high
	for i := range n {
		e := p[pageHeader+i*elementSize:]
		pos, size := uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
		if size == 0 || pos+size > uint64(len(e)) {
			return f.corrupt(id, "key %d is not on the page", i)
		}
		keys[i] = e[pos : pos+size]
		if i > 0 && bytes.Compare(keys[i-1], keys[i]) >= 0 || i == 0 && low != nil && bytes.Compare(keys[i], low) < 0 {
			return f.corrupt(id, "keys out of order")
		}
	}
	for i := range n {
		child := order.Uint64(p[pageHeader+i*elementSize+8:])
		if err := w.page(child, depth+1, keys[i], keys[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// firstKey returns the first key of a leaf, nil if it is not on the page.
func firstKey(p []byte) []byte {
	e := p[pageHeader:]
	pos, size := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:]))
	if pos+size > uint64(len(e)) {
		return nil
	}
	return e[pos : pos+size]
}

func (w *walk) leaf(id uint64, p, high []byte) error {
	n := int(order.Uint16(p[10:]))
	if len(p) < pageHeader+n*elementSize {
		return w.f.corrupt(id, "%d elements do not fit the page", n)
	}
	for i := range n {
		e := p[pageHeader+i*elementSize:]
		pos, ksize, vsize := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		if ksize == 0 || pos+ksize+vsize > uint64(len(e)) {
			return w.f.corrupt(id, "key %d is not on the page", i)
		}
		if order.Uint32(e) != w.flags {
			return w.f.corrupt(id, "key %d has flags %#x, want %#x", i, order.Uint32(e), w.flags)
		}
		key := e[pos : pos+ksize]
		if w.last != nil && bytes.Compare(w.last, key) >= 0 || high != nil && bytes.Compare(key, high) >= 0 {
			return w.f.corrupt(id, "keys out of order")
		}
		w.last = key
		if err := w.fn(id, key, e[pos+ksize:pos+ksize+vsize]); err != nil {
			return err
		}
	}
	return nil
}

// read returns page id with those that it flows over to.
func (f *pageFile) read(id uint64) ([]byte, error) {
	var h [pageHeader]byte
	if id < 2 || id >= f.meta.high {
		return nil, f.corrupt(id, "a page beyond the %d in use is named", f.meta.high)
	}
	if _, err := f.r.ReadAt(h[:], int64(id)*pageSize); err != nil {
		return nil, &CorruptError{Path: f.path, Page: int64(id), What: "page cannot be read", Err: err}
	}
	pages := uint64(order.Uint32(h[12:])) + 1
	if order.Uint64(h[:]) != id || id+pages > f.meta.high {
		return nil, f.corrupt(id, "malformed page header")
	}
	for i := range pages {
		if f.seen[id+i] {
			return nil, f.corrupt(id+i, "named twice")
		}
		f.seen[id+i] = true
	}
	p := make([]byte, pages*pageSize)
	if _, err := f.r.ReadAt(p, int64(id)*pageSize); err != nil {
		return nil, &CorruptError{Path: f.path, Page: int64(id), What: "page cannot be read", Err: err}
	}
	if [pageHeader]byte(p) != h {
		return nil, f.corrupt(id, "malformed page header")
	}
	return p, nil
}
