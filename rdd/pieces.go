package rdd

import (
	"context"
	"hash/crc32"
	"sync"

	"github.com/leat-io/leat/rdd/codec"
)

// pieceSize is how much of a value one checksum is about.
const pieceSize = 4 << 20

// pieces are an encoded value and the checksum of each pieceSize bytes of it. What is cut is what a transport
// sends at once and asks for again if it arrives damaged.
type pieces struct {
	site string

	mu        sync.Mutex // guards the rest
	data      []byte
	sums      []uint32
	destroyed bool
}

func newPieces(data []byte, site string) *pieces {
	p := &pieces{site: site, data: data}
	for at := 0; at < len(data); at += pieceSize {
		p.sums = append(p.sums, crc32.Checksum(data[at:min(at+pieceSize, len(data))], castagnoli))
	}
	return p
}

// fetch returns the encoded value after checking it. Decoding leaves it as it is.
func (p *pieces) fetch(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	data, sums := p.data, p.sums
	p.mu.Unlock()
	if err := p.alive(); err != nil {
		return nil, err
	}
	for i, sum := range sums {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		at := i * pieceSize
		if crc32.Checksum(data[at:min(at+pieceSize, len(data))], castagnoli) != sum {
			return nil, &codec.CorruptError{Offset: at, Reason: "checksum of a broadcast's piece differs"}
		}
	}
	return data, nil
}

func (p *pieces) alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.destroyed {
		return &BuildError{Op: "broadcast", Site: p.site, Err: ErrDestroyed}
	}
	return nil
}

func (p *pieces) destroy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data, p.sums, p.destroyed = nil, nil, true
}
