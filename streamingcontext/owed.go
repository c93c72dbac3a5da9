package streamingcontext

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// Batches that were set aside are owed where the context repeats: the next process runs them again. The log keeps their inputs,
// and each batch's manifest lists those that are owed once it is committed, so that the newest manifest has them all.

// owe notes what became of an output run of a batch: one that failed and was given up is owed, for as long as it is among the
// latest, and one that went well is not any more. The commit lock is held.
func (l *ledger) owe(b *batch, failed bool) {
	if !l.repeats {
		return
	}
	l.owed = slices.DeleteFunc(l.owed, func(id int64) bool { return id == b.id || id <= b.id-MaxSetAside })
	if failed {
		i, _ := slices.BinarySearch(l.owed, b.id)
		l.owed = slices.Insert(l.owed, i, b.id)
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
func readOwed(r *varintReader) (owed []int64) {
	last := int64(0)
	for n := r.number(); n > 0 && !r.bad; n-- {
		last += int64(r.number())
		owed = append(owed, last)
	}
	return owed
}

// owedBy returns the batches that are owed after the last one that is decided, in their order, as far as the log has their inputs.
//
// Errors: ErrDamaged.
func owedBy(app driverlog.App) (owed []driverlog.Batch, err error) {
	if app.Next == 0 {
		return nil, nil
	}
	newest := app.Last
	for _, b := range app.Open {
		if b.Prepared != 0 {
			newest = b
		}
	}
	if len(newest.Manifest) == 0 {
		return nil, nil
	}
	r := varintReader{rest: newest.Manifest}
	version := skipOutcome(&r)
	if version != listedVersion {
		return nil, nil
	}
	ids := readOwed(&r)
	if r.bad {
		return nil, fmt.Errorf("%w: manifest of batch id %d", ErrDamaged, newest.ID)
	}
	for _, id := range ids {
		if b, ok := app.Batch(id); ok {
			owed = append(owed, b)
		}
	}
	return owed, nil
}

// RestartInfo is what a context of GetOrCreate would go on with.
type RestartInfo struct {
	App  string
	Zero dstream.Time // the time before its first batch
	Last dstream.Time // the last batch that was begun; Zero if none
	// Pending are the batches that are begun and not decided: they are run again.
	Pending []dstream.Time
	// Prepared are those whose outputs have all ended and that are not known to be committed: they are committed.
	Prepared []dstream.Time
	// SetAside are the batches that failed, that the context went on without and that Options.RepeatLast has run again.
	SetAside []dstream.Time
}

// Restarts returns what contexts of GetOrCreate would go on with from the folder: one for each application. A program may be using
// it meanwhile.
//
// Errors: those of the driver log; ErrDamaged.
func Restarts(dir string) ([]RestartInfo, error) {
	log, err := boltlog.Verify(filepath.Join(dir, "driver.db"))
	if err != nil {
		return nil, err
	}
	var all []RestartInfo
	for _, app := range log.State.Apps {
		if !app.Registered {
			continue
		}
		info := RestartInfo{App: app.Name, Zero: dstream.Time(app.Zero), Last: dstream.Time(app.Zero)}
		if last, ok := app.LastTime(); ok {
			info.Last = dstream.Time(last)
		}
		for _, b := range app.Open {
			if b.Prepared == 0 {
				info.Pending = append(info.Pending, dstream.Time(b.Time))
			} else {
				info.Prepared = append(info.Prepared, dstream.Time(b.Time))
			}
		}
		owed, err := owedBy(app)
		if err != nil {
			return nil, fmt.Errorf("application %s: %w", app.Name, err)
		}
		for _, b := range owed {
			info.SetAside = append(info.SetAside, dstream.Time(b.Time))
		}
		all = append(all, info)
	}
	return all, nil
}
