package protocol

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// MaxOwed is how many ids back from the latest batch that failed one can be owed.
const MaxOwed = 1000

// Batches that were set aside are owed where the term repeats: the next one runs their outputs again. The log keeps their inputs,
// and each batch's manifest lists those that are owed once it is committed, so that the newest manifest has them all.

// owe notes what became of an output run of a batch: one that failed and was given up is owed, for as long as it is among the
// latest, and one that went well is not any more.
func (c *Core) owe(id int64, failed bool) {
	if !c.opts.Repeats {
		return
	}
	c.owed = slices.DeleteFunc(c.owed, func(o int64) bool { return o == id || o <= id-MaxOwed })
	if failed {
		i, _ := slices.BinarySearch(c.owed, id)
		c.owed = slices.Insert(c.owed, i, id)
	}
}

// appendOwed writes a list of owed batches: their number and what each is more than the one before.
func appendOwed(buf []byte, owed []int64) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(owed)))
	last := int64(0)
	for _, id := range owed {
		buf = binary.AppendUvarint(buf, uint64(id-last))
		last = id
	}
	return buf
}

// readOwed reads what appendOwed wrote.
func readOwed(r *reader) (owed []int64) {
	last := int64(0)
	for n := r.number(); n > 0 && !r.bad; n-- {
		last += int64(r.number())
		owed = append(owed, last)
	}
	return owed
}

// OwedBy returns the batches that are owed after the last one that is decided, in their order, as far as the log has their inputs.
//
// Errors: ErrDamaged.
func OwedBy(app driverlog.App) (owed []driverlog.Batch, err error) {
	if app.Next == 0 {
		return nil, nil
	}
	newest := app.Last
	for _, b := range app.Open {
		if b.Prepared != 0 {
			newest = b
		}
	}
	if !Listed(newest.Manifest) {
		return nil, nil
	}
	var m Manifest
	r := reader{rest: newest.Manifest}
	m.readHead(&r)
	if r.bad {
		return nil, fmt.Errorf("%w: manifest of batch id %d", ErrDamaged, newest.ID)
	}
	for _, id := range m.Owed {
		if b, ok := app.Batch(id); ok {
			owed = append(owed, b)
		}
	}
	return owed, nil
}
