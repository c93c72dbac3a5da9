package file

import (
	"encoding/binary"
	"fmt"
)

// Format versions of an encoded State. The first has no files that wait, and is written as long as none do.
const (
	stateVersion   = 1
	waitingVersion = 2
)

// Append returns dst with the encoding of s behind it. Equal states have equal bytes.
//
// Shape; integers are varints in their shortest form, signed ones zigzag:
//
//	version    byte: 1, or 2 where files wait
//	threshold  signed
//	last       signed
//	waiting    signed, not 0; version 2 only
//	batches    unsigned count, then of each, in the order of their times:
//	  time     signed, from the second on unsigned: what it is later than the one before
//	  files    unsigned count, then of each, in the order of their paths:
//	    path   unsigned length, then so many bytes
//	    time   signed
//	    size   unsigned
//
// There is no checksum: it is for logs and files that have one.
func (s State) Append(dst []byte) []byte {
	version := byte(stateVersion)
	if s.Waiting != 0 {
		version = waitingVersion
	}
	dst = append(dst, version)
	dst = binary.AppendVarint(dst, s.Threshold)
	dst = binary.AppendVarint(dst, s.Last)
	if s.Waiting != 0 {
		dst = binary.AppendVarint(dst, s.Waiting)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Batches)))
	for i, batch := range s.Batches {
		if i == 0 {
			dst = binary.AppendVarint(dst, batch.Time)
		} else {
			dst = binary.AppendUvarint(dst, uint64(batch.Time-s.Batches[i-1].Time))
		}
		dst = binary.AppendUvarint(dst, uint64(len(batch.Files)))
		for _, f := range batch.Files {
			dst = binary.AppendUvarint(dst, uint64(len(f.Path)))
			dst = append(dst, f.Path...)
			dst = binary.AppendVarint(dst, f.ModTime)
			dst = binary.AppendUvarint(dst, uint64(f.Size))
		}
	}
	return dst
}

// DecodeState returns the State that Append wrote.
//
// Cost: memory in proportion to data, whatever its numbers say.
// Errors: *VersionError; *CorruptError for bytes that Append does not write.
func DecodeState(data []byte) (State, error) {
	d := decoder{data: data}
	v := d.byte("version")
	if d.err == nil && v != stateVersion && v != waitingVersion {
		return State{}, &VersionError{Got: int(v), Known: waitingVersion}
	}
	s := State{Threshold: d.varint("threshold"), Last: d.varint("last")}
	if v == waitingVersion {
		s.Waiting = d.varint("waiting")
		d.require(s.Waiting != 0, "waiting")
	}
	batches := d.count("batches", 2)
	if batches > 0 {
		s.Batches = make([]Batch, 0, batches)
	}
	for i := range batches {
		var batch Batch
		if i == 0 {
			batch.Time = d.varint("batch time")
		} else {
			before := s.Batches[i-1].Time
			batch.Time = int64(uint64(before) + d.uvarint("batch time"))
			d.require(batch.Time > before, "batch time")
		}
		batch.Files = d.files()
		if d.err != nil {
			return State{}, d.err
		}
		s.Batches = append(s.Batches, batch)
	}
	d.require(d.at == len(data), "trailing bytes")
	if d.err != nil {
		return State{}, d.err
	}
	return s, nil
}

// decoder reads fields off data and remembers the first one that does not fit; after that it returns zeros.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) require(ok bool, what string) {
	if !ok && d.err == nil {
		d.err = &CorruptError{What: what, Offset: d.at}
	}
}

func (d *decoder) byte(what string) byte {
	d.require(d.at < len(d.data), what)
	if d.err != nil {
		return 0
	}
	d.at++
	return d.data[d.at-1]
}

func (d *decoder) uvarint(what string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.at:])
	// A last byte of zero would be a longer form of a shorter number.
	d.require(n > 0 && (n == 1 || d.data[d.at+n-1] != 0), what)
	if d.err != nil {
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) varint(what string) int64 {
	u := d.uvarint(what)
	return int64(u>>1) ^ -int64(u&1)
}

// count reads a number of things that take at least so many bytes each.
func (d *decoder) count(what string, bytes int) int {
	n := d.uvarint(what)
	d.require(n <= uint64(len(d.data)-d.at)/uint64(bytes), what)
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *decoder) files() []File {
	n := d.count("files", 4)
	if n == 0 {
		return nil
	}
	files := make([]File, 0, n)
	for i := range n {
		length := d.count("path", 1)
		d.require(length > 0, "path")
		if d.err != nil {
			return nil
		}
		f := File{Path: string(d.data[d.at : d.at+length])}
		d.at += length
		d.require(i == 0 || files[i-1].Path < f.Path, "order of paths")
		f.ModTime = d.varint("file time")
		size := d.uvarint("file size")
		f.Size = int64(size)
		d.require(f.Size >= 0, "file size")
		files = append(files, f)
	}
	return files
}

// A CorruptError says that bytes are no encoded State.
type CorruptError struct {
	What   string // the field that does not fit
	Offset int
}

// Error returns the field and where it is.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("state of a file selector: %s at byte %d does not fit", e.What, e.Offset)
}

// A VersionError says that a State was encoded in a format this program does not know.
type VersionError struct{ Got, Known int }

// Error returns both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("state of a file selector: format version %d, known is %d", e.Got, e.Known)
}
