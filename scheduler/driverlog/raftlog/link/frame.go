package link

import (
	"encoding/binary"
	"fmt"
	"io"
)

// version is the version of the handshake that this package speaks.
const version = 1

// maxFrame is the size in bytes of the largest frame, header included.
const maxFrame = 1024

// headerSize is the size of a frame's header: magic, kind, version, size of the body. It and the body of a refusal are the same
// in every version, so that two that differ can tell each other.
const headerSize = 9

var magic = [4]byte{'L', 'E', 'A', 'T'}

// frameKind says what the body of a frame is.
type frameKind byte

const (
	helloFrame   frameKind = 'H' // who one is and what one wants
	goFrame      frameKind = 'G' // the dialler's consent to the other's hello, without a body
	refusalFrame frameKind = 'R' // the end: a reason and its detail
)

// appendFrame appends a frame. The body is no larger than maxFrame allows.
func appendFrame(dst []byte, kind frameKind, body []byte) []byte {
	dst = append(dst, magic[:]...)
	dst = append(dst, byte(kind))
	dst = binary.BigEndian.AppendUint16(dst, version)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(body)))
	return append(dst, body...)
}

// readFrame reads a frame of the kind that is due and returns its body. The body is allocated after its size is known to be
// allowed.
//
// Errors: *RefusedError: what the other says where it refuses, with Remote set; Malformed, Oversized or WrongVersion; io.EOF where nothing came
// before the end; what reading returns.
func readFrame(r io.Reader, due frameKind) ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	if [4]byte(header[:4]) != magic {
		if header[0] == 0x16 && header[1] == 3 { // a TLS record of a handshake
			return nil, refused(BadTransport, "it speaks TLS, which is not used here")
		}
		return nil, refused(Malformed, fmt.Sprintf("it begins with % x", header[:4]))
	}
	kind, theirs, size := frameKind(header[4]), binary.BigEndian.Uint16(header[5:]), int(binary.BigEndian.Uint16(header[7:]))
	if size > maxFrame-headerSize {
		return nil, refused(Oversized, fmt.Sprintf("a frame of %d bytes, at most %d are allowed", headerSize+size, maxFrame))
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch {
	case kind == refusalFrame:
		return nil, decodeRefusal(body)
	case theirs != version:
		return nil, refused(WrongVersion, fmt.Sprintf("it speaks version %d, this end %d", theirs, version))
	case kind != due:
		return nil, refused(Malformed, fmt.Sprintf("a frame of kind %q, %q is due", byte(kind), byte(due)))
	}
	return body, nil
}
