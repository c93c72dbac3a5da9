package objectlog

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// An Entry is a command in a log.
type Entry struct {
	Index   uint64
	Command driverlog.Command
}

// Info is what a log holds.
type Info struct {
	ID       string          // the log's identity, in hexadecimal; empty for an empty log
	Snapshot uint64          // index of the snapshot that the entries follow, 0 without one
	Entries  int             // entries behind the snapshot
	Objects  int             // objects with entries, those before the snapshot as well
	Owner    Holder          // zero if there never was one
	State    driverlog.State // after the last entry
	// Damaged says which newer snapshots could not be used. Nil is nothing.
	Damaged error
}

// Dump returns what the log under prefix in store holds, after calling each with every entry behind its snapshot, in order. It writes
// nothing and may be used while an owner writes.
//
// Cost: as of Open, and the entries in memory.
// Errors: *CorruptError; each's error; those of the store. An empty log is none.
func Dump(ctx context.Context, store blobstore.Store, prefix string, each func(Entry) error) (Info, error) {
	info, c, err := read(ctx, store, prefix, true)
	if err != nil {
		return Info{}, fmt.Errorf("read driver log: %w", err)
	}
	for _, e := range c.entries {
		if err := each(e); err != nil {
			return Info{}, err
		}
	}
	return info, nil
}

// Verify returns what the log under prefix in store holds, after reading its snapshot and every object behind it and checking
// every checksum, index and decision.
//
// Errors: *CorruptError; those of the store.
func Verify(ctx context.Context, store blobstore.Store, prefix string) (Info, error) {
	info, _, err := read(ctx, store, prefix, false)
	if err != nil {
		return Info{}, fmt.Errorf("verify driver log: %w", err)
	}
	return info, nil
}

func read(ctx context.Context, store blobstore.Store, prefix string, keep bool) (Info, contents, error) {
	n := names{Options{Prefix: prefix}.withDefaults().Prefix}
	holder, _, _, err := readHolder(ctx, store, n)
	if err != nil {
		return Info{}, contents{}, err
	}
	c, err := load(ctx, store, n, holder.Last, keep)
	if err != nil {
		return Info{}, contents{}, err
	}
	info := Info{
		Snapshot: c.base, Entries: c.behind, Objects: len(c.objects) + len(c.fences), Owner: holder, State: c.state, Damaged: c.damaged,
	}
	if c.log != (identity{}) {
		info.ID = hex.EncodeToString(c.log[:])
	}
	return info, c, nil
}
