package streamingcontext

import (
	"fmt"
	"path/filepath"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

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
		owed, err := protocol.OwedBy(app)
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
