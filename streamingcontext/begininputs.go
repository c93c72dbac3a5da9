package streamingcontext

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// What the Begin of a batch holds for each input that gave something, as the input's data: a version
// byte, a kind byte and, in unsigned varints and length-prefixed bytes:
//
//	'b' blocks: number of blocks, each id as the difference to the one before (signed), number of records
//	'i' others: number of records, description (for files: their paths, one a line)
//	'd' digest: SHA-256 of an encoding above that is too long for the log
const (
	inputVersion = 1
	inputBlocks  = 'b'
	inputInfo    = 'i'
	inputDigest  = 'd'
)

func appendBlocks(buf []byte, ids []receivers.BlockID, records int64) []byte {
	buf = append(buf, inputVersion, inputBlocks)
	buf = binary.AppendUvarint(buf, uint64(len(ids)))
	var last receivers.BlockID
	for _, id := range ids {
		buf = binary.AppendVarint(buf, int64(id-last))
		last = id
	}
	return binary.AppendUvarint(buf, uint64(records))
}

func appendInfo(buf []byte, info dstream.InputInfo) []byte {
	buf = append(buf, inputVersion, inputInfo)
	buf = binary.AppendUvarint(buf, uint64(info.Records))
	buf = binary.AppendUvarint(buf, uint64(len(info.Description)))
	return append(buf, info.Description...)
}

// inputWriter makes the inputs of one batch after the other, in memory that it uses again.
type inputWriter struct {
	inputs []driverlog.Input
	buf    []byte
}

// write returns what batch t was given: the blocks of receivers, and what other inputs reported. The
// result is good until the next call.
func (w *inputWriter) write(t dstream.Time, streams []receivedStream, infos []dstream.InputInfo) []driverlog.Input {
	w.inputs, w.buf = w.inputs[:0], w.buf[:0]
	share := driverlog.MaxPayload / max(1, len(streams)+len(infos))
	for _, s := range streams {
		start := len(w.buf)
		w.buf = s.describe(t, w.buf)
		w.add(s.stream(), start, share)
	}
	for _, info := range infos {
		if w.has(info.Stream) {
			continue
		}
		start := len(w.buf)
		w.buf = appendInfo(w.buf, info)
		w.add(info.Stream, start, share)
	}
	return w.inputs
}

func (w *inputWriter) has(stream int) bool {
	for _, in := range w.inputs {
		if int(in.Stream) == stream {
			return true
		}
	}
	return false
}

// add makes what was appended from start on the data of a stream.
func (w *inputWriter) add(stream, start, share int) {
	if data := w.buf[start:]; len(data) > share {
		sum := sha256.Sum256(data)
		w.buf = append(append(w.buf[:start], inputVersion, inputDigest), sum[:]...)
	}
	w.inputs = append(w.inputs, driverlog.Input{Stream: int32(stream), Data: w.buf[start:len(w.buf):len(w.buf)]})
}
