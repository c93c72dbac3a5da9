package rdd

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// An ErrorCodec carries the errors of this package over process borders. Its fields are those of
// scheduler.ErrorCodec, so that one converts to the other: scheduler.ErrorCodec(rdd.NewErrorCodec()).
type ErrorCodec struct {
	Kind   string
	Encode func(err error) ([]byte, bool)
	Decode func(data []byte) error
}

// NewErrorCodec returns the codec of the errors of packages rdd, rdd/keyed and rdd/codec. What a
// *UserError wraps goes with it: errors of these packages, of contexts and of files answer errors.Is
// and errors.As as before; of the program's own error types the text arrives, and what they wrap.
//
// Errors: Encode answers false for an error of another package; Decode answers bytes that are no error
// with codec.ErrCorrupt.
func NewErrorCodec() ErrorCodec {
	return ErrorCodec{Kind: "rdd", Encode: encodeOwn, Decode: func(data []byte) error { return decodeError(data, 0) }}
}

// maxErrorDepth bounds how far wrapped errors are followed, in both directions.
const maxErrorDepth = 32

// errorWire is one error as it crosses. Wrapped errors are bytes of their own, so that reading
// one level is bounded whatever the bytes say.
type errorWire struct {
	Kind      string   `msgpack:"k"`
	Text      string   `msgpack:"t,omitempty"` // the cause in words
	Name      string   `msgpack:"n,omitempty"` // an operator, a type, a path
	Site      string   `msgpack:"w,omitempty"`
	Stack     string   `msgpack:"c,omitempty"`
	Batch     int64    `msgpack:"b,omitempty"`
	Stream    int32    `msgpack:"s,omitempty"`
	Ordinal   int32    `msgpack:"o,omitempty"`
	Partition int      `msgpack:"p,omitempty"`
	Offset    int64    `msgpack:"f,omitempty"`
	Is        []string `msgpack:"m,omitempty"` // sentinels that a foreign error matches by itself
	Final     bool     `msgpack:"x,omitempty"`
	Inner     [][]byte `msgpack:"i,omitempty"`
}

// namedError is a value that must compare equal on both sides.
type namedError struct {
	name string
	err  error
}

// ownSentinels are the values of this package and its subpackages.
func ownSentinels() []namedError {
	return []namedError{
		{"rdd.ErrEmpty", ErrEmpty},
		{"rdd.ErrStopped", ErrStopped},
		{"rdd.ErrNestedJob", ErrNestedJob},
		{"rdd.ErrNilFunction", ErrNilFunction},
		{"rdd.ErrArgument", ErrArgument},
		{"rdd.ErrLengths", ErrLengths},
		{"rdd.ErrPartitioner", ErrPartitioner},
		{"rdd.ErrDifferentContexts", ErrDifferentContexts},
		{"rdd.ErrCheckpointTooLate", ErrCheckpointTooLate},
		{"rdd.ErrNoCheckpointDir", ErrNoCheckpointDir},
		{"rdd.ErrCheckpointLost", ErrCheckpointLost},
		{"rdd.ErrDestroyed", ErrDestroyed},
		{"rdd.ErrInTask", ErrInTask},
		{"rdd.ErrNotInTask", ErrNotInTask},
		{"rdd.ErrLevelChange", ErrLevelChange},
		{"rdd.ErrNoState", ErrNoState},
		{"rdd.ErrStateRemoved", ErrStateRemoved},
		{"rdd.ErrStateTimingOut", ErrStateTimingOut},
		{"rdd.errShrunk", errShrunk},
		{"keyed.ErrBadKeyType", keyed.ErrBadKeyType},
		{"keyed.ErrBadPartition", keyed.ErrBadPartition},
		{"codec.ErrCorrupt", codec.ErrCorrupt},
	}
}

// allSentinels adds the values of the standard library that functions of a program are likely to
// return and callers to ask for.
func allSentinels() []namedError {
	return append(ownSentinels(),
		namedError{"context.Canceled", context.Canceled},
		namedError{"context.DeadlineExceeded", context.DeadlineExceeded},
		namedError{"io.EOF", io.EOF},
		namedError{"io.ErrUnexpectedEOF", io.ErrUnexpectedEOF},
		namedError{"fs.ErrNotExist", fs.ErrNotExist},
		namedError{"fs.ErrExist", fs.ErrExist},
		namedError{"fs.ErrPermission", fs.ErrPermission},
		namedError{"fs.ErrClosed", fs.ErrClosed},
		namedError{"errors.ErrUnsupported", errors.ErrUnsupported},
		namedError{"csv.ErrBareQuote", csv.ErrBareQuote},
		namedError{"csv.ErrQuote", csv.ErrQuote},
		namedError{"csv.ErrFieldCount", csv.ErrFieldCount},
		namedError{"gzip.ErrChecksum", gzip.ErrChecksum},
		namedError{"gzip.ErrHeader", gzip.ErrHeader},
	)
}

func encodeOwn(err error) ([]byte, bool) {
	w, ok := wireOf(err, 0)
	if !ok {
		return nil, false
	}
	return w.bytes(), true
}

func (w *errorWire) bytes() []byte {
	data, err := msgpack.Marshal(w)
	if err != nil {
		// Every field is a plain value, so this needs a broken msgpack; keep the text at least.
		data, _ = msgpack.Marshal(&errorWire{Kind: "remote", Text: w.Text})
	}
	return data
}

// wireOf returns an error of these packages, false for others.
func wireOf(err error, depth int) (errorWire, bool) {
	switch e := err.(type) {
	case *UserError:
		return errorWire{Kind: "user", Name: e.Op, Site: e.Site, Stack: e.Stack, Batch: e.Node.Batch, Stream: e.Node.Stream,
			Ordinal: e.Node.Ordinal, Partition: e.Partition, Offset: e.Offset, Inner: encodeInner(depth, e.Err)}, true
	case *PanicError:
		return errorWire{Kind: "panic", Text: e.Value}, true
	case *BuildError:
		return errorWire{Kind: "build", Name: e.Op, Site: e.Site, Inner: encodeInner(depth, e.Err)}, true
	case *FileError:
		return errorWire{Kind: "file", Name: e.Path, Batch: e.Line, Offset: e.Offset, Inner: encodeInner(depth, e.Err)}, true
	case *DecodeError:
		return errorWire{Kind: "decode", Name: e.Path, Partition: e.Partition, Batch: e.Line, Offset: e.Offset, Inner: encodeInner(depth, e.Err)}, true
	case *ProcessError:
		return errorWire{Kind: "process", Name: e.Command, Partition: e.Code, Text: e.Stderr, Inner: encodeInner(depth, e.Err)}, true
	case *keyed.KeyTypeError:
		return errorWire{Kind: "key", Name: e.Type, Site: e.Path, Text: e.Reason}, true
	case *keyed.PartitionError:
		return errorWire{Kind: "partition", Batch: int64(e.Entry), Partition: e.Got, Offset: int64(e.Of)}, true
	case *codec.CorruptError:
		return errorWire{Kind: "corrupt", Offset: int64(e.Offset), Text: e.Reason, Inner: encodeInner(depth, e.Err)}, true
	case *codec.TypeError:
		// A reflect.Type is of its process; its name goes into the reason.
		return errorWire{Kind: "type", Site: e.Path, Text: fmt.Sprintf("%v: %s", e.Type, e.Reason)}, true
	case *remoteError:
		return errorWire{Kind: "remote", Name: e.typ, Text: e.text, Is: e.is, Final: e.final, Inner: encodeInner(depth, e.errs...)}, true
	}
	for _, s := range ownSentinels() {
		if err == s.err { // an identity, not a match: wrappers keep their own text
			return errorWire{Kind: s.name}, true
		}
	}
	return errorWire{}, false
}

func encodeInner(depth int, errs ...error) [][]byte {
	var inner [][]byte
	for _, err := range errs {
		if err != nil {
			inner = append(inner, encodeAny(err, depth+1))
		}
	}
	return inner
}

// encodeAny returns any error as bytes.
func encodeAny(err error, depth int) []byte {
	if depth >= maxErrorDepth {
		return (&errorWire{Kind: "remote", Text: fmt.Sprint(err)}).bytes()
	}
	if w, ok := wireOf(err, depth); ok {
		return w.bytes()
	}
	w := errorWire{Kind: "remote", Name: fmt.Sprintf("%T", err), Text: fmt.Sprint(err)}
	matcher, _ := err.(interface{ Is(error) bool })
	for _, s := range allSentinels() {
		if err == s.err {
			return (&errorWire{Kind: s.name}).bytes()
		}
		if matcher != nil && matcher.Is(s.err) {
			w.Is = append(w.Is, s.name)
		}
	}
	if p, ok := err.(interface{ Permanent() bool }); ok {
		w.Final = p.Permanent()
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		w.Inner = encodeInner(depth, u.Unwrap())
	case interface{ Unwrap() []error }:
		w.Inner = encodeInner(depth, u.Unwrap()...)
	}
	return w.bytes()
}

func decodeError(data []byte, depth int) error {
	if depth > maxErrorDepth {
		return &codec.CorruptError{Reason: "errors nested too deep"}
	}
	var w errorWire
	if err := msgpack.Unmarshal(data, &w); err != nil {
		return &codec.CorruptError{Reason: "no error", Err: err}
	}
	var errs []error
	for _, inner := range w.Inner {
		errs = append(errs, decodeError(inner, depth+1))
	}
	var cause error
	if len(errs) > 0 {
		cause = errs[0]
	}
	switch w.Kind {
	case "user":
		node := lineage.NodeID{Scope: lineage.Scope{Batch: w.Batch, Stream: w.Stream}, Ordinal: w.Ordinal}
		return &UserError{Op: w.Name, Site: w.Site, Node: node, Partition: w.Partition, Offset: w.Offset, Stack: w.Stack, Err: cause}
	case "panic":
		return &PanicError{Value: w.Text}
	case "build":
		return &BuildError{Op: w.Name, Site: w.Site, Err: cause}
	case "file":
		return &FileError{Path: w.Name, Line: w.Batch, Offset: w.Offset, Err: cause}
	case "decode":
		return &DecodeError{Path: w.Name, Partition: w.Partition, Line: w.Batch, Offset: w.Offset, Err: cause}
	case "process":
		return &ProcessError{Command: w.Name, Code: w.Partition, Stderr: w.Text, Err: cause}
	case "key":
		return &keyed.KeyTypeError{Type: w.Name, Path: w.Site, Reason: w.Text}
	case "partition":
		return &keyed.PartitionError{Entry: int(w.Batch), Got: w.Partition, Of: int(w.Offset)}
	case "corrupt":
		return &codec.CorruptError{Offset: int(w.Offset), Reason: w.Text, Err: cause}
	case "type":
		return &codec.TypeError{Path: w.Site, Reason: w.Text}
	case "remote":
		return &remoteError{typ: w.Name, text: w.Text, is: w.Is, final: w.Final, errs: errs}
	}
	for _, s := range allSentinels() {
		if s.name == w.Kind {
			return s.err
		}
	}
	return &codec.CorruptError{Reason: fmt.Sprintf("error of unknown kind %q", w.Kind)}
}

// remoteError stands for an error of the program, or of a package this one does not know, that was
// wrapped in another process.
type remoteError struct {
	typ, text string
	is        []string
	final     bool
	errs      []error
}

func (e *remoteError) Error() string { return e.text }

// Unwrap returns what the original wrapped.
func (e *remoteError) Unwrap() []error { return e.errs }

// Is reports whether the original matched target by itself.
func (e *remoteError) Is(target error) bool {
	for _, s := range allSentinels() {
		if s.err == target {
			for _, name := range e.is {
				if name == s.name {
					return true
				}
			}
		}
	}
	return false
}

// Permanent reports whether the original said that trying again cannot help.
func (e *remoteError) Permanent() bool { return e.final }
