package streamingcontext

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

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
//
// Where batches outlive the process, an input that can give a batch again has one of these instead, and nothing where it
// records nothing:
//
//	'r' recorded: what the input wants to be told
//	'x' the same in a blob: a reference to it
const (
	inputVersion  = 1
	inputBlocks   = 'b'
	inputInfo     = 'i'
	inputDigest   = 'd'
	inputRecorded = 'r'
	inputInBlob   = 'x'
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
	recorders []recorder // where batches outlive the process
	blobs     *blobs

	inputs []driverlog.Input
	buf    []byte
}

// write returns what batch t was given: the blocks of receivers, and what other inputs reported. The
// result is good until the next call.
//
// Errors: those of inputs that record, and of the blob store.
func (w *inputWriter) write(t dstream.Time, streams []receivedStream, infos []dstream.InputInfo) ([]driverlog.Input, error) {
	w.inputs, w.buf = w.inputs[:0], w.buf[:0]
	share := driverlog.MaxPayload / max(1, len(w.recorders)+len(streams)+len(infos))
	for _, r := range w.recorders {
		if err := w.record(t, r, share); err != nil {
			return nil, err
		}
	}
	for _, s := range streams {
		if r := s.stream(); !w.has(r) && !w.records(r) {
			start := len(w.buf)
			w.buf = s.describe(t, w.buf)
			w.add(r, start, share)
		}
	}
	for _, info := range infos {
		if w.has(info.Stream) || w.records(info.Stream) {
			continue
		}
		start := len(w.buf)
		w.buf = appendInfo(w.buf, info)
		w.add(info.Stream, start, share)
	}
	return w.inputs, nil
}

// record adds what an input wants to be told when batch t is to be made again.
func (w *inputWriter) record(t dstream.Time, r recorder, share int) error {
	var data []byte
	if err := apart(func() (err error) {
		data, err = r.input.Record(t)
		return err
	}); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if len(data) == 0 {
		return nil
	}
	start := len(w.buf)
	w.buf = append(w.buf, inputVersion, inputRecorded)
	if len(data)+2 > share {
		reference, err := w.blobs.write(data)
		if err != nil {
			return err
		}
		w.buf[start+1], data = inputInBlob, reference
	}
	w.buf = append(w.buf, data...)
	w.add(r.stream, start, driverlog.MaxPayload)
	return nil
}

// recordedOf returns what an input has recorded in an encoding that record made.
func recordedOf(data []byte, blobs *blobs) ([]byte, error) {
	switch {
	case len(data) < 2 || data[0] != inputVersion:
		return nil, fmt.Errorf("%w: input record", ErrDamaged)
	case data[1] == inputRecorded:
		return data[2:], nil
	case data[1] == inputInBlob:
		return blobs.read(data[2:])
	}
	return nil, fmt.Errorf("%w: input record of kind %q", ErrDamaged, data[1])
}

func (w *inputWriter) has(stream int) bool {
	return slices.ContainsFunc(w.inputs, func(in driverlog.Input) bool { return int(in.Stream) == stream })
}

func (w *inputWriter) records(stream int) bool {
	return slices.ContainsFunc(w.recorders, func(r recorder) bool { return r.stream == stream })
}

// add makes what was appended from start on the data of a stream.
func (w *inputWriter) add(stream, start, share int) {
	if data := w.buf[start:]; len(data) > share {
		sum := sha256.Sum256(data)
		w.buf = append(append(w.buf[:start], inputVersion, inputDigest), sum[:]...)
	}
	w.inputs = append(w.inputs, driverlog.Input{Stream: int32(stream), Data: w.buf[start:len(w.buf):len(w.buf)]})
}

// A recorder is an input that can give its batches again in another process.
type recorder struct {
	stream int
	name   string
	input  dstream.InputRecorder
}

// recordersOf returns those of a graph, in the order declared.
func recordersOf(g *dstream.Graph) []recorder {
	var all []recorder
	for _, in := range g.Inputs() {
		if r, ok := in.Input.(dstream.InputRecorder); ok {
			all = append(all, recorder{in.ID, in.Name, r})
		}
	}
	return all
}
