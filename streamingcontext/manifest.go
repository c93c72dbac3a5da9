package streamingcontext

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A manifest says what a batch amounts to: the bytes of its Prepared.
//
// Version 1 is a version byte, a kind byte, the number of outputs, and for the kinds 'g' and 's' what went wrong.
// Numbers are unsigned varints, text is bytes behind their number:
//
//	'o', 'a'  nothing further
//	'g'       the error
//	's'       number of outputs that failed, then for each of the first 64 of them its position and its error
//
// Version 2, where outputs have staged something, goes on with a byte and
//
//	0  the number of them, and the name and the staged bytes of each
//	1  a reference to a blob that holds the same
//
// Version 3, where batches are owed or further outputs have staged something in batches before, is the same with a list of the former
// before that byte: their number, and how much greater each id is than the one before; and behind the staged bytes, in the blob as well, the
// number of the latter, and of each its name, the last batch that it has staged something in and the SHA-256 of what it was.
type manifest struct {
	kind    byte
	outputs int
}

// A stagedOutput is what a sink output has staged of a batch.
type stagedOutput struct {
	output string
	bytes  []byte
}

// Kinds of manifests.
const (
	manifestVersion = 1
	stagedVersion   = 2
	listedVersion   = 3
	outputsDone     = 'o' // every output operation has ended well
	notGenerated    = 'g' // the batch could not be generated: no output ran
	outputsAside    = 's' // some outputs failed, and the batch was set aside
	abandoned       = 'a' // the process that began it is gone, and its received input with it
)

// Bounds of what a manifest says about failures; more is left out.
const (
	manifestFailures = 64
	manifestText     = 1024
)

func (m manifest) append(buf []byte) []byte {
	return binary.AppendUvarint(append(buf, manifestVersion, m.kind), uint64(m.outputs))
}

// appendFailed is append for a batch that was set aside with err, or with these failed outputs.
func (m manifest) appendFailed(buf []byte, err error, failed []*OutputError) []byte {
	if m.kind == notGenerated {
		return appendText(m.append(buf), err)
	}
	m.kind = outputsAside
	buf = binary.AppendUvarint(m.append(buf), uint64(len(failed)))
	for _, f := range failed[:min(len(failed), manifestFailures)] {
		buf = binary.AppendUvarint(buf, uint64(f.Output))
		buf = appendText(buf, f.Err)
	}
	return buf
}

// What stands before staged outputs.
const (
	stagedHere   = 0
	stagedInBlob = 1
)

// appendStaged makes a manifest of version 1 one that holds which batches are owed, what outputs have staged, and when others did
// last. Where that is too long for the driver log all but the first goes to a blob.
func appendStaged(buf []byte, owed []int64, staged []stagedOutput, marks []outputMark, put func(data []byte) (reference []byte, err error)) ([]byte, error) {
	marks = without(marks, staged)
	listed := len(owed) > 0 || len(marks) > 0
	switch {
	case listed:
		buf[0] = listedVersion
		buf = appendOwed(buf, owed)
	case len(staged) == 0:
		return buf, nil
	default:
		buf[0] = stagedVersion
	}
	list := binary.AppendUvarint(nil, uint64(len(staged)))
	for _, s := range staged {
		list = append(binary.AppendUvarint(list, uint64(len(s.output))), s.output...)
		list = append(binary.AppendUvarint(list, uint64(len(s.bytes))), s.bytes...)
	}
	if listed {
		list = appendMarks(list, marks)
	}
	if len(buf)+1+len(list) <= driverlog.MaxPayload {
		return append(append(buf, stagedHere), list...), nil
	}
	reference, err := put(list)
	if err != nil {
		return nil, err
	}
	return append(append(buf, stagedInBlob), reference...), nil
}

// stagedOf returns what a manifest says that outputs have staged, and of other outputs when they did last. get reads blobs.
func stagedOf(m []byte, get func(reference []byte) ([]byte, error)) ([]stagedOutput, []outputMark, error) {
	r := varintReader{rest: m}
	version := skipOutcome(&r)
	if version == listedVersion {
		readOwed(&r)
	}
	if r.bad || version < manifestVersion || version > listedVersion {
		return nil, nil, fmt.Errorf("%w: manifest of version %d", ErrDamaged, version)
	}
	if version == manifestVersion {
		return nil, nil, nil
	}
	if r.byte() == stagedInBlob {
		list, err := get(r.rest)
		if err != nil {
			return nil, nil, err
		}
		r.rest = list
	}
	var staged []stagedOutput
	for n := r.number(); n > 0 && !r.bad; n-- {
		staged = append(staged, stagedOutput{output: string(r.bytes()), bytes: r.bytes()})
	}
	var marks []outputMark
	if version == listedVersion {
		marks = r.marks()
	}
	if r.bad || len(r.rest) > 0 {
		return nil, nil, fmt.Errorf("%w: manifest", ErrDamaged)
	}
	return staged, marks, nil
}

// skipOutcome reads up to what versions have behind the first, and returns the version.
func skipOutcome(r *varintReader) (version byte) {
	version = r.byte()
	kind := r.byte()
	r.number()
	switch kind {
	case notGenerated:
		r.bytes()
	case outputsAside:
		for range min(r.number(), manifestFailures) {
			r.number()
			r.bytes()
		}
	}
	return version
}

func appendText(buf []byte, err error) []byte {
	if err == nil {
		err = errors.New("")
	}
	text := err.Error()
	text = text[:min(len(text), manifestText)]
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}
