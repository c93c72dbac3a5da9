package scheduler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/leat-io/leat/lineage"
)

// An ErrorCodec carries the errors of one more package over process borders.
//
// Encode answers false for an error that is none of its own, without looking inside it: wrapped
// errors are offered one by one. Decode answers damaged input with a *CodecError.
type ErrorCodec struct {
	Kind   string // unique, as in "rdd.FuncError"
	Encode func(err error) ([]byte, bool)
	Decode func(data []byte) error
}

// maxErrorDepth bounds how far wrapped errors are followed, in both directions.
const maxErrorDepth = 32

// errorWire is one error as it crosses: its kind and whatever fields the kind has.
type errorWire struct {
	Kind     string            `msgpack:"k"`
	Text     string            `msgpack:"t,omitempty"`
	Type     string            `msgpack:"y,omitempty"`
	Data     []byte            `msgpack:"d,omitempty"`
	Job      int               `msgpack:"j,omitempty"`
	Stage    int               `msgpack:"s,omitempty"`
	Part     int               `msgpack:"p,omitempty"`
	Attempt  int               `msgpack:"a,omitempty"`
	Executor ExecutorID        `msgpack:"x,omitempty"`
	Name     string            `msgpack:"n,omitempty"`
	Site     string            `msgpack:"w,omitempty"`
	Stack    string            `msgpack:"c,omitempty"`
	Shuffle  lineage.ShuffleID `msgpack:"h,omitempty"`
	Final    bool              `msgpack:"f,omitempty"`
	Bytes    int64             `msgpack:"b,omitempty"`
	Limit    int64             `msgpack:"l,omitempty"`
	Inner    []errorWire       `msgpack:"i,omitempty"`
}

// sentinels are the values that must compare equal on both sides. They are read only.
func sentinels() []sentinel {
	return []sentinel{
		{"context.Canceled", context.Canceled},
		{"context.DeadlineExceeded", context.DeadlineExceeded},
		{"scheduler.ErrClosed", ErrClosed},
		{"scheduler.ErrCanceled", ErrCanceled},
		{"scheduler.ErrCannotRollBack", ErrCannotRollBack},
		{"io.EOF", io.EOF},
		{"io.ErrUnexpectedEOF", io.ErrUnexpectedEOF},
		{"fs.ErrNotExist", fs.ErrNotExist},
		{"fs.ErrExist", fs.ErrExist},
	}
}

type sentinel struct {
	kind string
	err  error
}

// EncodeError returns err as bytes. The types of this package, the context errors and what codecs
// know keep kind and fields; any other error keeps its text and what it wraps.
func EncodeError(err error, codecs ...ErrorCodec) []byte {
	w := errorWire{Kind: "remote", Type: fmt.Sprintf("%T", err), Text: text(err)}
	// The methods of an error may be the program's; without them there is still the text.
	_ = guard(func() error {
		w = encodeError(err, codecs, 0)
		return nil
	})
	data, merr := msgpack.Marshal(&w)
	if merr != nil {
		// Every field is a plain value, so this needs a broken msgpack; keep the text at least.
		data, _ = msgpack.Marshal(&errorWire{Kind: "remote", Text: text(err)})
	}
	return data
}

// DecodeError returns the error EncodeError wrote, so that errors.Is and errors.As answer as they
// did on the other side.
//
// Errors: bytes that are no error come back as *CodecError.
func DecodeError(data []byte, codecs ...ErrorCodec) error {
	var w errorWire
	if err := msgpack.Unmarshal(data, &w); err != nil {
		return &CodecError{Doing: "decode error", Err: err}
	}
	return decodeError(&w, codecs, 0)
}

func encodeError(err error, codecs []ErrorCodec, depth int) errorWire {
	if err == nil {
		return errorWire{Kind: "nil"}
	}
	if depth >= maxErrorDepth {
		return errorWire{Kind: "remote", Text: text(err)}
	}
	inner := func(err error) []errorWire {
		if err == nil {
			return nil
		}
		return []errorWire{encodeError(err, codecs, depth+1)}
	}
	switch e := err.(type) {
	case *TaskError:
		return errorWire{Kind: "task", Job: e.Job, Stage: e.Stage, Part: e.Partition, Attempt: e.Attempt,
			Executor: e.Executor, Name: e.Op, Site: e.Site, Stack: e.Stack, Inner: inner(e.Err)}
	case *FetchError:
		return errorWire{Kind: "fetch", Shuffle: e.Shuffle, Part: e.Map, Attempt: e.Reduce,
			Executor: e.Executor, Inner: inner(e.Err)}
	case *CommitDeniedError:
		return errorWire{Kind: "denied", Stage: e.Stage, Part: e.Partition, Attempt: e.Attempt}
	case *ExecutorLostError:
		return errorWire{Kind: "lost", Executor: e.Executor, Inner: inner(e.Err)}
	case *JobError:
		return errorWire{Kind: "job", Job: e.Job, Name: e.Name, Site: e.Site, Inner: inner(e.Err)}
	case *CanceledError:
		w := errorWire{Kind: "canceled", Job: e.Job, Name: e.Name, Site: e.Site}
		w.Inner = []errorWire{encodeError(e.Err, codecs, depth+1), encodeError(e.Cause, codecs, depth+1)}
		return w
	case *ResultSizeError:
		return errorWire{Kind: "resultsize", Stage: e.Stage, Part: e.Results, Bytes: e.Bytes, Limit: e.Limit}
	case *OutputExistsError:
		return errorWire{Kind: "exists", Name: e.Path, Inner: inner(e.Err)}
	case *PanicError:
		return errorWire{Kind: "panic", Text: e.Value, Stack: e.Stack}
	case *CodecError:
		return errorWire{Kind: "codec", Name: e.Doing, Inner: inner(e.Err)}
	case *RemoteError:
		w := errorWire{Kind: "remote", Type: e.Type, Text: e.Text, Final: e.Final}
		for _, i := range e.Errs {
			w.Inner = append(w.Inner, encodeError(i, codecs, depth+1))
		}
		return w
	}
	for _, s := range sentinels() {
		if err == s.err { // an identity, not a match: wrappers keep their own text
			return errorWire{Kind: s.kind}
		}
	}
	for _, c := range codecs {
		if data, ok := c.Encode(err); ok {
			return errorWire{Kind: c.Kind, Data: data}
		}
	}
	w := errorWire{Kind: "remote", Type: fmt.Sprintf("%T", err), Text: text(err)}
	if p, ok := err.(interface{ Permanent() bool }); ok {
		w.Final = p.Permanent()
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		w.Inner = inner(u.Unwrap())
	case interface{ Unwrap() []error }:
		for _, i := range u.Unwrap() {
			w.Inner = append(w.Inner, encodeError(i, codecs, depth+1))
		}
	}
	return w
}

func decodeError(w *errorWire, codecs []ErrorCodec, depth int) error {
	if depth > maxErrorDepth {
		return &CodecError{Doing: "decode error", Err: errors.New("nested too deep")}
	}
	inner := func(i int) error {
		if i >= len(w.Inner) {
			return nil
		}
		return decodeError(&w.Inner[i], codecs, depth+1)
	}
	switch w.Kind {
	case "nil":
		return nil
	case "task":
		return &TaskError{Job: w.Job, Stage: w.Stage, Partition: w.Part, Attempt: w.Attempt,
			Executor: w.Executor, Op: w.Name, Site: w.Site, Stack: w.Stack, Err: inner(0)}
	case "fetch":
		return &FetchError{Shuffle: w.Shuffle, Map: w.Part, Reduce: w.Attempt, Executor: w.Executor, Err: inner(0)}
	case "denied":
		return &CommitDeniedError{Stage: w.Stage, Partition: w.Part, Attempt: w.Attempt}
	case "lost":
		return &ExecutorLostError{Executor: w.Executor, Err: inner(0)}
	case "job":
		return &JobError{Job: w.Job, Name: w.Name, Site: w.Site, Err: inner(0)}
	case "canceled":
		return &CanceledError{Job: w.Job, Name: w.Name, Site: w.Site, Err: inner(0), Cause: inner(1)}
	case "resultsize":
		return &ResultSizeError{Stage: w.Stage, Results: w.Part, Bytes: w.Bytes, Limit: w.Limit}
	case "exists":
		return &OutputExistsError{Path: w.Name, Err: inner(0)}
	case "panic":
		return &PanicError{Value: w.Text, Stack: w.Stack}
	case "codec":
		return &CodecError{Doing: w.Name, Err: inner(0)}
	case "remote":
		e := &RemoteError{Type: w.Type, Text: w.Text, Final: w.Final}
		for i := range w.Inner {
			if err := inner(i); err != nil {
				e.Errs = append(e.Errs, err)
			}
		}
		return e
	}
	for _, s := range sentinels() {
		if s.kind == w.Kind {
			return s.err
		}
	}
	for _, c := range codecs {
		if c.Kind == w.Kind {
			return c.Decode(w.Data)
		}
	}
	return &CodecError{Doing: "decode error", Err: fmt.Errorf("kind %q is not known here", w.Kind)}
}
