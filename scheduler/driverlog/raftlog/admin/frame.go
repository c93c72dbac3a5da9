package admin

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFrame is the size in bytes of the largest request and reply, without their sizes.
const maxFrame = 64 << 10

var errOversized = errors.New("a frame over 64 KiB")

// writeFrame writes v as JSON behind its size, in one call.
func writeFrame(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > maxFrame {
		return errOversized
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text))), text...))
	return err
}

// readFrame reads a size and so many bytes, which are allocated once the size is known to be allowed.
func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, fmt.Errorf("%d bytes: %w", n, errOversized)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return text, nil
}
