package streamingcontext

import (
	"encoding/binary"
	"errors"
)

// A manifest says what a batch amounts to: the bytes of its Prepared.
//
// Version 1 is a version byte, a kind byte, the number of outputs, and for the kinds 'g' and 's' what went wrong.
// Numbers are unsigned varints, text is bytes behind their number:
//
//	'o', 'a'  nothing further
//	'g'       the error
//	's'       number of outputs that failed, then for each of the first 64 of them its position and its error
type manifest struct {
	kind    byte
	outputs int
}

// Kinds of manifests.
const (
	manifestVersion = 1
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

func appendText(buf []byte, err error) []byte {
	if err == nil {
		err = errors.New("")
	}
	text := err.Error()
	text = text[:min(len(text), manifestText)]
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}
