package objectlog

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leat-io/leat/blobstore"
)

// A Holder is the owner of a log, as its record says. The times are of the owner's clock.
type Holder struct {
	Writer  string        `json:"writer"` // names this opened log, in hexadecimal
	Node    string        `json:"node"`
	Host    string        `json:"host"`
	PID     int           `json:"pid"`
	Command string        `json:"command"` // base name of the program
	Since   time.Time     `json:"since"`   // when it opened the log
	Renewed time.Time     `json:"renewed"`
	Lease   time.Duration `json:"lease_ns"` // how long it counts without being renewed
	Epoch   uint64        `json:"epoch"`    // of its latest term, 0 before the first
	Last    uint64        `json:"last"`     // index of an entry that was durable then
	Ended   bool          `json:"ended"`    // it has closed the log
}

// maxHolder bounds what is read of a record.
const maxHolder = 16 << 10

func (h Holder) lapses() time.Time { return h.Renewed.Add(h.Lease) }

// Lapsed reports whether the owner has ended, or has not renewed its record for the time of its lease.
func (h Holder) Lapsed(now time.Time) bool { return h.Ended || !now.Before(h.lapses()) }

// An owner competes for the record of a log. One goroutine uses it at a time.
type owner struct {
	store blobstore.Store
	names names
	me    Holder
	tag   blobstore.Tag // of the record, where it is ours
	owns  bool
	fine  time.Time // when the store last did what it should, while another owner was waited for
}

func newOwner(store blobstore.Store, n names, opts Options, writer identity) *owner {
	h := Holder{Writer: hex.EncodeToString(writer[:]), Node: opts.Node, PID: os.Getpid(), Since: time.Now().UTC(), Lease: opts.Lease}
	h.Host, _ = os.Hostname() // empty where there is none
	if len(os.Args) > 0 {
		h.Command = filepath.Base(os.Args[0])
	}
	return &owner{store: store, names: n, me: h}
}

// readHolder returns the record of a log; ok is false where there is none.
//
// Errors: *CorruptError.
func readHolder(ctx context.Context, store blobstore.Store, n names) (h Holder, tag blobstore.Tag, ok bool, err error) {
	data, tag, err := store.Read(ctx, n.owner())
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, blobstore.Absent, false, nil
	}
	if err != nil {
		return Holder{}, "", false, err
	}
	bad := &CorruptError{Store: store.String(), Name: n.owner(), What: "record of the owner"}
	if len(data) > maxHolder {
		bad.Err = errLength
		return Holder{}, "", false, bad
	}
	if err := json.Unmarshal(data, &h); err != nil {
		bad.Err = err
		return Holder{}, "", false, bad
	}
	return h, tag, true, nil
}

// claim makes the record ours, once no other owner is in the way. It waits for that for wait, or for as long as ctx if that is
// negative.
//
// Errors: *LockedError; *CorruptError; those of the store.
func (o *owner) claim(ctx context.Context, wait time.Duration) error {
	begun := time.Now()
	var seen blobstore.Tag // the tag of the record, unchanged since
	var since time.Time
	for {
		h, tag, there, err := readHolder(ctx, o.store, o.names)
		if err != nil {
			return err
		}
		now := time.Now()
		if seen != tag {
			seen, since = tag, now
		}
		mine := there && h.Writer == o.me.Writer
		// A clock that is ahead of ours does not keep us out: it is enough to have watched the record for its lease.
		if !there || mine || h.Lapsed(now) || now.Sub(since) >= h.Lease {
			o.me.Last = max(o.me.Last, h.Last)
			err := o.swap(ctx, tag)
			if err == nil {
				return nil
			}
			if !errors.Is(err, blobstore.ErrChanged) && !errors.Is(err, blobstore.ErrUnknown) {
				return err
			}
			if err := sleep(ctx, minPause); err != nil {
				return err
			}
			continue // another was faster, or the next reading tells
		}
		if wait >= 0 && now.Sub(begun) >= wait {
			return &LockedError{Store: o.store.String(), Prefix: o.names.prefix, Holder: h}
		}
		o.fine = now
		pause := min(max(h.Lease/8, minPause), maxPause)
		if wait >= 0 {
			pause = min(pause, wait-now.Sub(begun))
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Bounds of the time between two looks at a record.
const (
	minPause = 2 * time.Millisecond
	maxPause = time.Second
)

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// swap writes our record in place of the one with the tag old.
func (o *owner) swap(ctx context.Context, old blobstore.Tag) error {
	o.me.Renewed = time.Now().UTC()
	data, err := json.Marshal(o.me)
	if err != nil {
		return err
	}
	tag, err := o.store.CompareAndSwap(ctx, o.names.owner(), old, append(data, '\n'))
	if err == nil {
		o.tag, o.owns = tag, true
	}
	return err
}

// renew writes our record again. owns is false afterwards if another has taken it.
//
// Errors: those of the store, which say nothing of who owns the log.
func (o *owner) renew(ctx context.Context) error {
	for {
		err := o.swap(ctx, o.tag)
		if !errors.Is(err, blobstore.ErrChanged) {
			return err
		}
		h, tag, there, err := readHolder(ctx, o.store, o.names)
		if err != nil {
			return err
		}
		if !there || h.Writer != o.me.Writer || tag == o.tag {
			o.owns = false
			return nil
		}
		o.tag = tag // ours, of a swap whose answer was lost
	}
}
