package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

func logCommand(p *printer) *cobra.Command {
	return group("log", "The driver log: what was decided about batches",
		placeCommand("dump", "Print the state and the decisions behind it", func(ctx context.Context, pl place) error {
			return dumpLog(ctx, p, pl)
		}),
		placeCommand("verify", "Read every byte in use and check it", func(ctx context.Context, pl place) error {
			return verifyLog(ctx, p, pl)
		}))
}

// logFile is the file of the log in a folder, or the file itself.
func logFile(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return path
	}
	return filepath.Join(path, "driver.db")
}

// logEntry is a decision as it is printed.
type logEntry struct {
	Index    uint64
	Kind     string
	Epoch    uint64 `json:",omitempty"`
	Node     string `json:",omitempty"`
	App      string `json:",omitempty"`
	Batch    int64
	Time     int64             `json:",omitempty"`
	Keep     int64             `json:",omitempty"`
	Inputs   []driverlog.Input `json:",omitempty"`
	Manifest []byte            `json:",omitempty"`
}

// storeLog is what a log in a store holds, as it is printed.
type storeLog struct {
	ID               string
	Snapshot         uint64
	Entries, Objects int
	Owner            objectlog.Holder
	State            driverlog.State
	Damaged          string `json:",omitempty"`
}

func storeLogOf(info objectlog.Info) storeLog {
	l := storeLog{ID: info.ID, Snapshot: info.Snapshot, Entries: info.Entries, Objects: info.Objects, Owner: info.Owner, State: info.State}
	if info.Damaged != nil {
		l.Damaged = info.Damaged.Error()
	}
	return l
}

// ownerText says who leads, or has led.
func ownerText(h objectlog.Holder) string {
	if h.Node == "" {
		return "no owner"
	}
	text := fmt.Sprintf("owner %s: %s, process %d on %s, epoch %d, ", h.Node, h.Command, h.PID, h.Host, h.Epoch)
	if h.Ended {
		return text + "has closed it"
	}
	return text + "renewed " + h.Renewed.UTC().Format(time.RFC3339) + " for " + h.Lease.String()
}

func dumpLog(ctx context.Context, p *printer, pl place) error {
	var entries []boltlog.Entry
	each := func(e boltlog.Entry) { entries = append(entries, e) }
	const head = "log %s, snapshot at index %d, then %d entries"
	var state driverlog.State
	var damaged error
	if pl.store != nil {
		info, err := pl.storedLog(ctx, each)
		if err != nil {
			return err
		}
		state, damaged = info.State, info.Damaged
		if err := p.print(storeLogOf(info), head+"\n%s", info.ID, info.Snapshot, info.Entries, ownerText(info.Owner)); err != nil {
			return err
		}
	} else if raft := raftFolder(pl.dir); raft != "" {
		return inspectRaft(p, raft, true)
	} else {
		info, err := boltlog.Dump(logFile(pl.dir), func(e boltlog.Entry) error { each(e); return nil })
		if err != nil {
			return err
		}
		state = info.State
		if err := p.print(info, head, info.ID, info.Snapshot, info.Entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if err := p.print(entryOf(e), "%s", entryText(e)); err != nil {
			return err
		}
	}
	if p.format == "json" {
		return damaged // the state was printed with info
	}
	for _, a := range state.Apps {
		if err := p.print(a, "%s", appText(a)); err != nil {
			return err
		}
	}
	return damaged
}

func entryOf(e boltlog.Entry) logEntry {
	c := e.Command
	return logEntry{e.Index, c.Kind.String(), c.Epoch, c.Node, c.App, c.Batch, c.Time, c.Keep, c.Inputs, c.Manifest}
}

func entryText(e boltlog.Entry) string {
	c := e.Command
	text := fmt.Sprintf("%d\t%s", e.Index, c.Kind)
	switch c.Kind {
	case driverlog.LeaderStart:
		return text + "\t" + c.Node
	case driverlog.Begin:
		return fmt.Sprintf("%s\t%s\tbatch %d\ttime %d\t%d inputs", text, c.App, c.Batch, c.Time, len(c.Inputs))
	case driverlog.Application:
		return fmt.Sprintf("%s\t%s\tzero time %d", text, c.App, c.Time)
	case driverlog.Checkpointed:
		return fmt.Sprintf("%s\t%s\tbatch %d\tinputs kept from %d", text, c.App, c.Batch, c.Keep)
	}
	return fmt.Sprintf("%s\t%s\tbatch %d", text, c.App, c.Batch)
}

func appText(a driverlog.App) string {
	return fmt.Sprintf("application %s: next batch %d, %d open, %d kept, last committed %d at %d ms, checkpoint of batch %d",
		a.Name, a.Next, len(a.Open), len(a.Kept), a.Oldest()-1, a.Last.Time, a.Checkpoint.Batch)
}

func verifyLog(ctx context.Context, p *printer, pl place) error {
	if pl.store == nil {
		if raft := raftFolder(pl.dir); raft != "" {
			return inspectRaft(p, raft, false)
		}
		info, err := boltlog.Verify(logFile(pl.dir))
		if err != nil {
			return err
		}
		return p.print(info, "ok: %d entries, %d pages, %d bytes", info.Entries, info.Pages, info.Bytes)
	}
	info, err := pl.storedLog(ctx, nil)
	if err == nil {
		err = info.Damaged
	}
	if err != nil {
		return err
	}
	return p.print(storeLogOf(info), "ok: %d entries, %d objects", info.Entries, info.Objects)
}
