package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// raftFolder returns the folder of the replicated log of a driver's folder, which may be that folder itself; "" where it has none.
func raftFolder(dir string) string {
	for _, d := range []string{filepath.Join(dir, "raft"), dir} {
		if info, err := os.Stat(filepath.Join(d, "raft.db")); err == nil && info.Mode().IsRegular() {
			return d
		}
	}
	return ""
}

// raftInfo is what a driver's folder holds, as it is printed.
type raftInfo struct {
	raftlog.Info
	Damaged string `json:",omitempty"`
}

// end says where a driver's log ends. Of several, the one that ends with the highest term, and then entry, has most.
func end(info raftlog.Info, last raftlog.Entry) string {
	at := fmt.Sprintf("snapshot of entry %d", info.Snapshot)
	if last.Index > 0 {
		at = fmt.Sprintf("entry %d of term %d", last.Index, last.Term)
	}
	return fmt.Sprintf("the log ends with %s: command %d, epoch %d", at, info.State.Index, info.State.Epoch)
}

// inspectRaft prints what a driver's folder holds, with every entry of its log or without.
func inspectRaft(p *printer, dir string, entries bool) error {
	var lines []boltlog.Entry
	var last raftlog.Entry
	info, err := raftlog.Dump(dir, func(e raftlog.Entry) error {
		last = e
		for _, c := range e.Commands {
			lines = append(lines, boltlog.Entry{Index: e.Index, Command: c})
		}
		return nil
	})
	if err != nil {
		return err
	}
	out := raftInfo{Info: info}
	if info.Damaged != nil {
		out.Damaged = info.Damaged.Error()
	}
	text := fmt.Sprintf("driver %s of cluster %s, %d members, snapshot at entry %d, then %d entries; %s", info.ID, info.Cluster, len(info.Members),
		info.Snapshot, entriesIn(info), end(info, last))
	if !entries {
		text = "ok: " + text
	}
	if err := p.print(out, "%s", text); err != nil {
		return err
	}
	for _, m := range info.Members {
		if p.format == "text" {
			fmt.Fprintf(p.w, "\t%s\t%s\t%s\n", m.ID, m.Address, vote(m.Voter))
		}
	}
	if entries {
		for _, e := range lines {
			if err := p.print(entryOf(e), "%s", entryText(e)); err != nil {
				return err
			}
		}
	}
	if p.format == "text" {
		for _, a := range info.State.Apps {
			text := appText(a)
			if a.Status != driverlog.Running {
				text += ", " + a.Status.String()
			}
			fmt.Fprintln(p.w, text)
		}
	}
	return info.Damaged
}

func entriesIn(info raftlog.Info) uint64 {
	if info.First == 0 {
		return 0
	}
	return info.Last - info.First + 1
}

func vote(voter bool) string {
	if voter {
		return "voter"
	}
	return "no vote yet"
}

// others returns the ids of members but one.
func others(members []raftlog.Member, id string) (ids []string) {
	for _, m := range members {
		if m.ID != id {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// listed is ids as text.
func listed(ids []string) string {
	if len(ids) == 0 {
		return "nobody"
	}
	return strings.Join(ids, ", ")
}
