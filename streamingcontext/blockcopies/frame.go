package blockcopies

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// frameBytes is how many bytes of a segment a message carries, unless a single record has more.
const frameBytes = 1 << 20

// maxFrame is the size of the largest message: one of a record that is as large as can be.
const maxFrame = MaxBlock + receivedlog.MaxMeta + 1024

// Kinds of messages. A leader says lead first; then each is answered by one.
const (
	kindLead    = 'L' // epoch                             -> inventory
	kindData    = 'D' // epoch, segment, offset, bytes     -> done
	kindRead    = 'R' // epoch, segment, offset            -> data
	kindRecord  = 'B' // address                           -> data
	kindClean   = 'C' // address                           -> done
	kindPing    = 'P' //                                   -> done
	kindHolding = 'I' // inventory: epoch and segment before which nothing is needed, number, then for each segment epoch, number, number of parts, each from and length
	kindDone    = 'A'
	kindFenced  = 'F' // epoch that was promised
	kindError   = 'E' // text
)

// A message is a kind and a body: its size in four bytes, big-endian, the kind in one, and the body.
type message struct {
	kind byte
	body []byte
}

func writeMessage(w io.Writer, kind byte, body []byte) error {
	if len(body)+1 > maxFrame {
		return &FrameError{fmt.Sprintf("%d bytes are too many", len(body)+1)}
	}
	buf := binary.BigEndian.AppendUint32(make([]byte, 0, 5+len(body)), uint32(len(body)+1))
	buf = append(append(buf, kind), body...)
	_, err := w.Write(buf)
	return err
}

// readMessage reads a message. Memory is taken as its bytes arrive, whatever size it says it has.
func readMessage(r io.Reader) (message, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > maxFrame {
		return message{}, &FrameError{fmt.Sprintf("size of %d bytes", size)}
	}
	var body bytes.Buffer
	if n, err := io.CopyN(&body, r, int64(size)-1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return message{}, fmt.Errorf("%d of %d bytes: %w", n, size-1, err)
	}
	return message{head[4], body.Bytes()}, nil
}

// fields reads the numbers of a body.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

// offset returns a number that is one in a file.
func (f *fields) offset() int64 {
	v := f.number()
	if v > 1<<62 {
		f.bad = true
		return 0
	}
	return int64(v)
}

func (f *fields) place() place { return place{f.number(), f.number()} }

// end returns an error unless all was read.
func (f *fields) end(what string) error {
	if f.bad || len(f.rest) > 0 {
		return &FrameError{what}
	}
	return nil
}

func appendPlace(buf []byte, p place) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(buf, p.epoch), p.segment)
}

func appendData(p place, from int64, data []byte) []byte {
	buf := binary.AppendUvarint(appendPlace(make([]byte, 0, len(data)+32), p), uint64(from))
	return append(buf, data...)
}

func decodeData(body []byte) (p place, from int64, data []byte, err error) {
	f := fields{rest: body}
	p, from = f.place(), f.offset()
	if f.bad {
		return p, 0, nil, &FrameError{"data"}
	}
	return p, from, f.rest, nil
}

func appendInventory(buf []byte, lowest place, all []holding) []byte {
	buf = appendPlace(buf, lowest)
	buf = binary.AppendUvarint(buf, uint64(len(all)))
	for _, h := range all {
		buf = appendPlace(buf, h.place)
		buf = binary.AppendUvarint(buf, uint64(len(h.parts)))
		for _, p := range h.parts {
			buf = binary.AppendUvarint(buf, uint64(p.From))
			buf = binary.AppendUvarint(buf, uint64(p.To-p.From))
		}
	}
	return buf
}

func decodeInventory(body []byte) (lowest place, all []holding, err error) {
	f := fields{rest: body}
	lowest = f.place()
	n := f.number()
	if f.bad || n > uint64(len(body)) { // each has three bytes or more
		return place{}, nil, &FrameError{"inventory"}
	}
	all = make([]holding, 0, min(n, 1<<10))
	for ; n > 0 && !f.bad; n-- {
		h := holding{place: f.place()}
		for parts := f.number(); parts > 0 && !f.bad; parts-- {
			from := f.offset()
			h.parts = append(h.parts, receivedlog.Part{From: from, To: from + f.offset()})
		}
		if len(all) > 0 && !all[len(all)-1].before(h.place) || !h.parts.valid() {
			return place{}, nil, &FrameError{"inventory"}
		}
		all = append(all, h)
	}
	return lowest, all, f.end("inventory")
}
