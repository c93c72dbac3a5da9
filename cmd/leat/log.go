package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

func logCommand(p *printer) *cobra.Command {
	return group("log", "The driver log: what was decided about batches",
		&cobra.Command{
			Use: "dump DIR", Short: "Print the state and the decisions behind it", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return dumpLog(p, args[0]) },
		},
		&cobra.Command{
			Use: "verify DIR", Short: "Read every byte in use and check it", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return verifyLog(p, args[0]) },
		})
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

func dumpLog(p *printer, dir string) error {
	var entries []boltlog.Entry
	info, err := boltlog.Dump(logFile(dir), func(e boltlog.Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.print(info, "log %s, snapshot at index %d, then %d entries", info.ID, info.Snapshot, info.Entries); err != nil {
		return err
	}
	for _, e := range entries {
		c := e.Command
		entry := logEntry{e.Index, c.Kind.String(), c.Epoch, c.Node, c.App, c.Batch, c.Time, c.Keep, c.Inputs, c.Manifest}
		if err := p.print(entry, "%s", entryText(e)); err != nil {
			return err
		}
	}
	if p.format == "json" {
		return nil // the state was printed with info
	}
	for _, a := range info.State.Apps {
		if err := p.print(a, "%s", appText(a)); err != nil {
			return err
		}
	}
	return nil
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

func verifyLog(p *printer, dir string) error {
	info, err := boltlog.Verify(logFile(dir))
	if err != nil {
		return err
	}
	return p.print(info, "ok: %d entries, %d pages, %d bytes", info.Entries, info.Pages, info.Bytes)
}
