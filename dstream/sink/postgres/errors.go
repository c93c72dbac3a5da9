package postgres

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream/sink"
)

var (
	// ErrStaged says that the rows that were staged are not all there: something else has written to the staging table.
	ErrStaged = errors.New("staged rows are missing")
	// ErrLedger says that the ledger holds what no sink has written.
	ErrLedger = errors.New("the ledger is damaged")
)

// A RowError names a row that has other values than columns.
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
