package codec

import (
	"errors"
	"fmt"
	"reflect"
)

// ErrCorrupt is matched, through errors.Is, by every error that says the bytes are not a frame of this type.
var ErrCorrupt = errors.New("corrupt frame")

// CorruptError says where and why a frame is not readable. Nothing of a corrupt frame is returned as rows.
type CorruptError struct {
	Offset int    // the byte of the frame at which reading stopped
	Reason string // what was found there
	Err    error  // the cause, when a type's own decoder refused its bytes; else nil
}

// Error returns the offset, the reason and the cause as one line.
func (e *CorruptError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("corrupt frame at byte %d: %s: %v", e.Offset, e.Reason, e.Err)
	}
	return fmt.Sprintf("corrupt frame at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the cause, or nil.
func (e *CorruptError) Unwrap() error { return e.Err }

// TypeError says that a type, or the dynamic type of an interface value, has no exact encoding.
type TypeError struct {
	Type   reflect.Type // the type refused, which may be deep inside the row type
	Path   string       // how to reach it from the row type, such as Items[].Done; empty for the row type itself
	Reason string       // why it is refused
}

// Error returns the path, the type and the reason as one line.
func (e *TypeError) Error() string {
	at := ""
	if e.Path != "" {
		at = " at " + e.Path
	}
	return fmt.Sprintf("encode type %v%s: %s", e.Type, at, e.Reason)
}
