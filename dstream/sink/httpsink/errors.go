package httpsink

import (
	"fmt"

	"github.com/leat-io/leat/dstream/sink"
)

// A RefusedError names rows that the server has refused for good.
type RefusedError struct {
	Batch  sink.Batch
	Part   int
	Row    int64  // the first, within the partition, from 0
	Rows   int    // how many the request had
	Key    string // of the request
	Body   []byte // of the request; valid during a call of Refused
	Status int
	Answer string // its beginning
}

// Error returns the rows and the answer.
func (e *RefusedError) Error() string {
	rows := fmt.Sprintf("row %d", e.Row)
	if e.Rows > 1 {
		rows = fmt.Sprintf("rows %d to %d", e.Row, e.Row+int64(e.Rows)-1)
	}
	return fmt.Sprintf("%v, partition %d, %s: the server answers %d: %q", e.Batch, e.Part, rows, e.Status, e.Answer)
}

// A RowError names a row that cannot be sent.
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
