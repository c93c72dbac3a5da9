package boltlog

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// holdsNothing tells whether the file, which has no tail beside it, was left behind by an Open that ended before the log
// existed: nothing was ever acknowledged then, and the file can be made anew. bbolt lays out four pages with the transactions 0
// and 1, transaction 2 makes the log, and then, before anything else, comes the tail.
func holdsNothing(f *os.File, size int64) (bool, error) {
	if size <= 4*pageSize {
		data := make([]byte, size)
		if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), data); err != nil {
			return false, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		return ofFirstPages(data), nil
	}
	p := &pageFile{path: f.Name(), r: f, size: size}
	m0, err0 := p.readMeta(0)
	m1, err1 := p.readMeta(1)
	some := err0 == nil || err1 == nil
	return some && (err0 != nil || m0.txid <= 2) && (err1 != nil || m1.txid <= 2), nil
}

// ofFirstPages tells whether data is what is laid out first, or zero where that has not been written.
func ofFirstPages(data []byte) bool {
	want := firstPages()
	for i, b := range data {
		if b != 0 && b != want[i] {
			return false
		}
	}
	return true
}

// firstPages returns the four pages that bbolt lays out: two metas, an empty free list and an empty leaf.
func firstPages() []byte {
	b := make([]byte, 4*pageSize)
	for i, flags := range []uint16{metaPage, metaPage, freelistPage, leafPage} {
		p := b[i*pageSize:]
		order.PutUint64(p, uint64(i))
		order.PutUint16(p[8:], flags)
		if flags != metaPage {
			continue
		}
		m := p[pageHeader:]
		order.PutUint32(m, metaMagic)
		order.PutUint32(m[4:], metaVersion)
		order.PutUint32(m[8:], pageSize)
		order.PutUint64(m[16:], 3) // root
		order.PutUint64(m[32:], 2) // free list
		order.PutUint64(m[40:], 4) // pages in use
		order.PutUint64(m[48:], uint64(i))
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		order.PutUint64(m[metaSize-8:], sum.Sum64())
	}
	return b
}
