package rdd

import "fmt"

// A FileError says that a file could not be read on: reading failed, it is shorter than it should be, or its
// compression or format is damaged. What was read before it is not the whole of the file.
type FileError struct {
	Path   string
	Line   int64 // the line that was not read whole, counted from 1 in the task's share of the file; 0: not counted
	Offset int64 // bytes of the file before the place reached, of its text where it is compressed
	Err    error
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("read %s, line %d (byte %d): %v", e.Path, e.Line, e.Offset, e.Err)
	}
	return fmt.Sprintf("read %s, byte %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A DecodeError says that a line or record of a file is not what it is read as.
type DecodeError struct {
	Path      string
	Partition int
	Line      int64 // counted from 1 in the partition: the line of the file where the file is one partition
	Offset    int64 // bytes of the file, of its text where it is compressed, before the line or record
	Err       error // what the decoder said
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s, partition %d, line %d (byte %d): %v", e.Path, e.Partition, e.Line, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }
