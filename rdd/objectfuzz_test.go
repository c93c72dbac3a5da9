package rdd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// Whatever the bytes are, reading them ends with rows and no error, or an error that says corrupt; and a file that is
// accepted is what writing its rows gives. With repair the checksums are put right first, so that what lies behind them is
// reached.
func FuzzObjectFile(f *testing.F) {
	for _, repair := range []bool{false, true} {
		f.Add(object(f), repair)
		f.Add(object(f, []int32{1}), repair)
		f.Add(object(f, []int32{1, -2}, []int32{3}), repair)
		f.Add([]byte(objectMagic), repair)
	}
	f.Fuzz(func(t *testing.T, data []byte, repair bool) {
		if repair {
			data = repaired(data)
		}
		rows := must(codec.For[int32]())
		r := &objectReader{src: bytes.NewReader(data)}
		var frames [][]int32
		err := r.header(rows.Name())
		for err == nil {
			var frame []byte
			var want int
			if frame, want, err = r.next(); err != nil {
				break
			}
			var got []int32
			if got, err = rows.Decode(frame); err == nil && len(got) != want {
				err = damage("a frame of %d rows holds %d", want, len(got))
			}
			frames = append(frames, got)
		}
		if cap(r.buf) > 4*len(data)+256<<10 {
			t.Errorf("%d bytes of room for a file of %d", cap(r.buf), len(data))
		}
		if err != io.EOF {
			if !errors.Is(err, codec.ErrCorrupt) {
				t.Errorf("%v, want codec.ErrCorrupt", err)
			}
			return
		}
		if again := object(t, frames...); !bytes.Equal(again, data) {
			t.Errorf("read % x, which is written % x", data, again)
		}
	})
}

// repaired is data with right checksums as far as it is an object file.
func repaired(data []byte) []byte {
	data = slices.Clone(data)
	seal := func(from, to int) {
		binary.LittleEndian.PutUint32(data[to:], crc32.Checksum(data[from:to], castagnoli))
	}
	if len(data) < objectHeaderSize {
		return data
	}
	at := objectHeaderSize + int(binary.LittleEndian.Uint32(data[6:]))
	if at+4 > len(data) {
		return data
	}
	seal(0, at)
	at += 4
	for at+frameHeadSize <= len(data) && data[at] == objectFrame {
		size := int(binary.LittleEndian.Uint32(data[at+5:]))
		end := at + frameHeadSize + size
		if size >= 4 && end <= len(data) {
			seal(at+frameHeadSize, end-4) // the codec's own
			binary.LittleEndian.PutUint32(data[at+9:], crc32.Checksum(data[at+frameHeadSize:end], castagnoli))
		}
		seal(at, at+frameHeadSize-4)
		if at = end; at > len(data) {
			return data
		}
	}
	if at+objectTrailerSize <= len(data) && data[at] == objectTrailer {
		seal(at, at+objectTrailerSize-4)
	}
	return data
}
