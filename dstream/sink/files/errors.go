package files

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream/sink"
)

var (
	// ErrDamaged says that a file is not what was written. Someone must look at it: nothing here repairs it.
	ErrDamaged = errors.New("damaged")
	// ErrOrder says that a batch is to be committed whose successor already is: something else writes to the output.
	ErrOrder = errors.New("a later batch is committed")
	// ErrFormat says that a sink cannot write its rows, or a reader read them.
	ErrFormat = errors.New("format")
)

// A DamageError names the file of an ErrDamaged.
type DamageError struct {
	File    string
	Problem string
}

// Error returns the file and what is wrong with it.
func (e *DamageError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Problem) }

// Unwrap returns ErrDamaged.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// A RowError names a row that has no form in the format of its sink.
type RowError struct {
	Batch sink.Batch
	Part  int
	Row   int64 // within the partition, from 0
	Err   error
}

// Error returns batch, partition, row and what is wrong with it.
func (e *RowError) Error() string {
	return fmt.Sprintf("%v, partition %d, row %d: %v", e.Batch, e.Part, e.Row, e.Err)
}

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }
