package dstream

import (
	"encoding/binary"
	"fmt"

	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd/codec"
)

// A file of a step has two kinds of frames before those of its state. Numbers are varints.
//
//	step     16, version, oldest, number of rows that were emitted
//	emitted  17, rows as package codec encodes them
const (
	frameStep, frameEmitted = state.FirstOwnFrame, state.FirstOwnFrame + 1

	stepVersion = 1
	// emittedInFrame is how many rows a frame has.
	emittedInFrame = 4096
)

// WriteSince puts the frames of a file: what the batch emitted, and of the state what changed.
func (s *stateStep[K, S, E]) WriteSince(base *stateStep[K, S, E], from int64, put func(frame []byte) error) (codec.Span, error) {
	c, err := codec.For[E]()
	if err != nil {
		return codec.Span{}, fmt.Errorf("encode states: %w", err)
	}
	frame := binary.AppendVarint([]byte{frameStep, stepVersion}, int64(s.oldest))
	if err := put(binary.AppendVarint(frame, int64(len(s.emitted)))); err != nil {
		return codec.Span{}, err
	}
	for rest := s.emitted; len(rest) > 0; {
		part := rest[:min(len(rest), emittedInFrame)]
		rest = rest[len(part):]
		if frame, err = c.Append(append(frame[:0], frameEmitted), part); err == nil {
			err = put(frame)
		}
		if err != nil {
			return codec.Span{}, fmt.Errorf("encode emitted rows: %w", err)
		}
	}
	var before *state.Version[K, stamped[S]]
	if base != nil {
		before = base.states
	}
	return s.states.WriteSince(before, from, put)
}

// Restored returns the step that was written last to files, as codec.Incremental says.
func (s *stateStep[K, S, E]) Restored(files int, read func(file int, yield func(frame []byte) error) error) (*stateStep[K, S, E], error) {
	rows, err := codec.For[E]()
	if err != nil {
		return nil, fmt.Errorf("decode states: %w", err)
	}
	states, err := state.NewRestoring[K, stamped[S]]()
	if err != nil {
		return nil, err
	}
	last := &stepReader[K, S, E]{rows: rows, left: -1}
	for f := range files {
		states.NextFile()
		if err := read(f, func(frame []byte) error {
			if len(frame) == 0 || frame[0] < state.FirstOwnFrame {
				return states.Frame(frame)
			}
			if f < files-1 {
				return nil // what earlier batches emitted is theirs
			}
			return last.frame(frame)
		}); err != nil {
			return nil, err
		}
	}
	if last.left != 0 {
		return nil, stepCorrupt("%d emitted rows are missing", last.left)
	}
	last.step.states, err = states.Version()
	return &last.step, err
}

// stepReader reads the frames that are not of the state.
type stepReader[K comparable, S, E any] struct {
	rows *codec.Codec[E]
	step stateStep[K, S, E]
	left int64 // rows that are to come, -1 before the first frame
}

func (r *stepReader[K, S, E]) frame(frame []byte) (err error) {
	switch kind, rest := frame[0], frame[1:]; {
	case kind == frameStep && r.left < 0:
		if len(rest) == 0 || rest[0] != stepVersion {
			return stepCorrupt("another version of a step")
		}
		oldest, n := binary.Varint(rest[1:])
		if n <= 0 {
			return stepCorrupt("the head of a step is cut off")
		}
		var m int
		if r.left, m = binary.Varint(rest[1+n:]); m <= 0 || 1+n+m != len(rest) || r.left < 0 {
			return stepCorrupt("the head of a step")
		}
		r.step.oldest = Time(oldest)
		return nil
	case kind == frameEmitted && r.left > 0:
		before := len(r.step.emitted)
		if r.step.emitted, err = r.rows.DecodeAppend(r.step.emitted, rest); err != nil {
			return fmt.Errorf("decode emitted rows: %w", err)
		}
		if r.left -= int64(len(r.step.emitted) - before); r.left < 0 {
			return stepCorrupt("more emitted rows than there were")
		}
		return nil
	}
	return stepCorrupt("a frame of kind %d", frame[0])
}

func stepCorrupt(format string, args ...any) error {
	return fmt.Errorf("decode states: %w", &codec.CorruptError{Reason: fmt.Sprintf(format, args...)})
}
