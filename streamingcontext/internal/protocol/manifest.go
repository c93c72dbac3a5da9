package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Manifest says what a batch amounts to: the bytes of its Prepared.
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
type Manifest struct {
	Kind     Kind
	Outputs  int
	Err      string    // of a batch that was not generated
	Failed   int       // how many outputs failed, of one that was set aside
	Failures []Failure // the first of them
	Owed     []int64   // batches whose outputs are to be run again, ascending
	Staged   []Staged  // by output
	Marks    []Mark    // of the outputs that have not staged anything, by output
}

// A Failure is an output that failed in a batch that was set aside.
type Failure struct {
	Output int
	Err    string
}

// A Staged is what a sink output has staged of a batch.
type Staged struct {
	Output string
	Bytes  []byte
}

// Kind is what became of a batch.
type Kind byte

// The kinds of manifests.
const (
	Done         Kind = 'o' // every output operation has ended well
	NotGenerated Kind = 'g' // the batch could not be generated: no output ran
	Aside        Kind = 's' // some outputs failed, and the batch was set aside
	Abandoned    Kind = 'a' // the process that began it is gone, and its received input with it
)

// Versions of manifests.
const (
	manifestVersion = 1
	stagedVersion   = 2
	listedVersion   = 3
)

// Bounds of what a manifest says about failures; more is left out.
const (
	manifestFailures = 64
	manifestText     = 1024
)

// What stands before staged outputs.
const (
	stagedHere   = 0
	stagedInBlob = 1
)

// ReferenceSize is how long the reference to a blob is.
const ReferenceSize = 32

// ErrDamaged is wrapped by what is returned for bytes that are not as they were written.
var ErrDamaged = errors.New("damaged")

// Append appends the manifest. Where it is longer than limit, list is what is to be made a blob, and the reference to
// that belongs behind what is returned.
func (m *Manifest) Append(buf []byte, limit int) (head, list []byte) {
	start := len(buf)
	buf = binary.AppendUvarint(append(buf, manifestVersion, byte(m.Kind)), uint64(m.Outputs))
	switch m.Kind {
	case NotGenerated:
		buf = appendText(buf, m.Err)
	case Aside:
		buf = binary.AppendUvarint(buf, uint64(m.Failed))
		for _, f := range m.Failures[:min(len(m.Failures), manifestFailures)] {
			buf = appendText(binary.AppendUvarint(buf, uint64(f.Output)), f.Err)
		}
	}
	listed := len(m.Owed) > 0 || len(m.Marks) > 0
	switch {
	case listed:
		buf[start] = listedVersion
		buf = appendOwed(buf, m.Owed)
	case len(m.Staged) == 0:
		return buf, nil
	default:
		buf[start] = stagedVersion
	}
	list = binary.AppendUvarint(nil, uint64(len(m.Staged)))
	for _, s := range m.Staged {
		list = append(binary.AppendUvarint(list, uint64(len(s.Output))), s.Output...)
		list = append(binary.AppendUvarint(list, uint64(len(s.Bytes))), s.Bytes...)
	}
	if listed {
		list = appendMarks(list, m.Marks)
	}
	if len(buf)-start+1+len(list) <= limit {
		return append(append(buf, stagedHere), list...), nil
	}
	return append(buf, stagedInBlob), list
}

// ReadManifest takes a manifest apart. Where the rest of it is in a blob it returns the reference to that, and ReadList reads it.
//
// Errors: ErrDamaged.
func ReadManifest(data []byte) (m Manifest, reference []byte, err error) {
	r := reader{rest: data}
	version := m.readHead(&r)
	if r.bad || version < manifestVersion || version > listedVersion {
		return m, nil, fmt.Errorf("%w: manifest of version %d", ErrDamaged, version)
	}
	if version == manifestVersion {
		return m, nil, nil
	}
	if r.byte() == stagedInBlob {
		if len(r.rest) != ReferenceSize {
			return m, nil, fmt.Errorf("%w: reference of %d bytes", ErrDamaged, len(r.rest))
		}
		return m, r.rest, nil
	}
	return m, nil, m.ReadList(r.rest, version == listedVersion)
}

// Listed reports whether a manifest has lists of what batches before it have left.
func Listed(data []byte) bool { return len(data) > 0 && data[0] == listedVersion }

// ReadList reads what is in a blob of a manifest.
//
// Errors: ErrDamaged.
func (m *Manifest) ReadList(list []byte, listed bool) error {
	r := reader{rest: list}
	for n := r.number(); n > 0 && !r.bad; n-- {
		m.Staged = append(m.Staged, Staged{Output: string(r.bytes()), Bytes: r.bytes()})
	}
	if listed {
		m.Marks = r.marks()
	}
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("%w: manifest", ErrDamaged)
	}
	return nil
}

// readHead reads up to where versions have staged outputs, and returns the version.
func (m *Manifest) readHead(r *reader) (version byte) {
	version = r.byte()
	m.Kind = Kind(r.byte())
	m.Outputs = int(r.number())
	switch m.Kind {
	case NotGenerated:
		m.Err = string(r.bytes())
	case Aside:
		m.Failed = int(r.number())
		for n := min(m.Failed, manifestFailures); n > 0 && !r.bad; n-- {
			m.Failures = append(m.Failures, Failure{int(r.number()), string(r.bytes())})
		}
	}
	if version == listedVersion {
		m.Owed = readOwed(r)
	}
	return version
}

func appendText(buf []byte, text string) []byte {
	text = text[:min(len(text), manifestText)]
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}
