package executor

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler"
)

// A FileError says that a file of an executor could not be made, written or read back, or does not
// hold what was written.
type FileError struct {
	Path  string
	Doing string // as in "write"
	Err   error
}

// Error returns what was being done to which file and why it cannot be.
func (e *FileError) Error() string { return fmt.Sprintf("%s %s: %v", e.Doing, e.Path, e.Err) }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

var (
	errNoOutput = errors.New("the output is not registered")
	errNoBucket = errors.New("the executor does not hold it")
	errNoRoom   = errors.New("there is no room for it")
	errClosed   = errors.New("the executor is closed")
	errDamaged  = errors.New("the bytes are not those that were written")
)

// FileErrorCodec returns what carries a *FileError over process borders.
func FileErrorCodec() scheduler.ErrorCodec {
	return scheduler.ErrorCodec{Kind: "executor.FileError", Encode: encodeFileError, Decode: decodeFileError}
}

func encodeFileError(err error) ([]byte, bool) {
	e, ok := err.(*FileError)
	if !ok {
		return nil, false
	}
	var data []byte
	for _, s := range []string{e.Path, e.Doing} {
		data = binary.AppendUvarint(data, uint64(len(s)))
		data = append(data, s...)
	}
	return append(data, scheduler.EncodeError(e.Err)...), true
}

func decodeFileError(data []byte) error {
	e := new(FileError)
	for _, s := range []*string{&e.Path, &e.Doing} {
		n, used := binary.Uvarint(data)
		if used <= 0 || n > uint64(len(data)-used) {
			return &scheduler.CodecError{Doing: "decode file error", Err: errDamaged}
		}
		*s, data = string(data[used:used+int(n)]), data[used+int(n):]
	}
	e.Err = scheduler.DecodeError(data)
	return e
}
