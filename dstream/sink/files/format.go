package files

import (
	"fmt"
	"io"
	"strings"
)

// A Format is how rows become the bytes of a file.
type Format[T any] struct {
	// Name is kept in the manifests. It holds letters, digits, dots and hyphens.
	Name string
	// Suffix ends the names of files, with its dot. It may be empty.
	Suffix string
	// Lines says that each row is one line, which is what Read needs. Bytes that an encoder writes before it is given a row are
	// a header and no lines.
	Lines bool
	// NewEncoder returns the encoder of one file. It is called when the first row comes: a partition without rows has no file.
	NewEncoder func(w io.Writer) (Encoder[T], error)
}

// An Encoder writes the rows of one file. One goroutine uses it.
type Encoder[T any] interface {
	// Encode writes rows and does not keep them. Where a row has no form it returns which, and why; the file is then given up.
	// Errors of the writer it returns as they are.
	Encode(rows []T) (n int, err error)
	// Close writes what is left and whatever ends the file. It does not close the writer.
	Close() error
}

// Validate returns an error naming the first field that has no meaning.
func (f Format[T]) Validate() error {
	switch {
	case f.NewEncoder == nil:
		return fmt.Errorf("%w: files.Format.NewEncoder is nil", ErrFormat)
	case f.Name == "" || len(f.Name) > 64 || !plain(f.Name):
		return fmt.Errorf("%w: files.Format.Name is %q, want 1 to 64 letters, digits, dots and hyphens", ErrFormat, f.Name)
	case len(f.Suffix) > 32 || !plain(f.Suffix):
		return fmt.Errorf("%w: files.Format.Suffix is %q, want up to 32 letters, digits, dots and hyphens", ErrFormat, f.Suffix)
	case strings.HasSuffix(f.Suffix, "."): // Windows leaves it out
		return fmt.Errorf("%w: files.Format.Suffix ends with a dot: %q", ErrFormat, f.Suffix)
	}
	return nil
}

// String returns name and suffix.
func (f Format[T]) String() string { return f.Name + " (" + f.Suffix + ")" }
