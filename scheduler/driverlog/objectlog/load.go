package objectlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// contents is what a log holds.
type contents struct {
	log       identity // zero where the log is empty
	writer    identity // of the last entry
	state     driverlog.State
	fences    []uint64 // first entries of writers, ascending
	objects   []uint64 // first entries of the other objects that are there, ascending
	snapshots []uint64 // that are there, ascending
	base      uint64   // the one that was read
	behind    int      // entries behind it
	damaged   error    // of a newer snapshot that could not be used
	entries   []Entry  // behind it, if they are to be kept
}

// maxSnapshot bounds what is read of a snapshot.
const maxSnapshot = 1 << 30

// loadAttempts is how often a log that its owner cleans up meanwhile is read again.
const loadAttempts = 20

// load reads a log of which least entries, at least, were durable.
//
// Errors: *CorruptError; those of the store.
func load(ctx context.Context, store blobstore.Store, n names, least uint64, keep bool) (contents, error) {
	for attempt := 1; ; attempt++ {
		l := &loader{ctx: ctx, store: store, names: n, keep: keep}
		err := l.load(least)
		// What its owner removes while it is read is missing once, what is lost is missing for ever.
		if errors.Is(err, errMissing) && attempt < loadAttempts && l.moved() {
			continue
		}
		return l.contents, err
	}
}

// errMissing says that an object is not there.
var errMissing = errors.New("it is missing")

// A loader reads a log once.
type loader struct {
	contents
	ctx   context.Context // of the call
	store blobstore.Store
	names names
	keep  bool
}

func (l *loader) corrupt(name string, entry uint64, what string, err error) error {
	return &CorruptError{Store: l.store.String(), Name: name, Entry: entry, What: what, Err: err}
}

// moved reports whether there is a newer snapshot than those that were listed.
func (l *loader) moved() bool {
	after := ""
	if n := len(l.snapshots); n > 0 {
		after = l.names.snapshot(l.snapshots[n-1])
	}
	page, err := l.store.List(l.ctx, l.names.snapshots(), after, 1)
	return err == nil && len(page) > 0
}

func (l *loader) load(least uint64) error {
	// Entries are listed before snapshots: those that are removed in between are in a snapshot that is listed.
	firsts, err := l.list(l.names.entries())
	if err != nil {
		return err
	}
	if l.snapshots, err = l.list(l.names.snapshots()); err != nil {
		return err
	}
	if err := l.readSnapshot(); err != nil {
		return err
	}
	for _, first := range firsts {
		if first <= l.base {
			if _, fence := slices.BinarySearch(l.fences, first); !fence {
				l.objects = append(l.objects, first)
			}
			continue
		}
		if err := l.readGroup(first); err != nil {
			return err
		}
	}
	if n := len(l.snapshots); n > 0 {
		least = max(least, l.snapshots[n-1])
	}
	if l.state.Index < least {
		what := fmt.Sprintf("%d entries were durable, there are %d", least, l.state.Index)
		if l.damaged != nil {
			what += "; " + l.damaged.Error()
		}
		return l.corrupt(l.names.entry(l.state.Index+1), l.state.Index+1, what, errMissing)
	}
	return nil
}

// list returns the indexes in the names that begin with prefix.
func (l *loader) list(prefix string) (indexes []uint64, err error) {
	for info, err := range blobstore.All(l.ctx, l.store, prefix, "") {
		if err != nil {
			return nil, err
		}
		index, ok := indexOf(info.Name, prefix)
		if !ok {
			return nil, l.corrupt(info.Name, 0, "a name that no driver log gives", nil)
		}
		indexes = append(indexes, index)
	}
	return indexes, nil
}

// readSnapshot reads the newest snapshot that is good.
func (l *loader) readSnapshot() error {
	for _, index := range slices.Backward(l.snapshots) {
		name := l.names.snapshot(index)
		data, err := l.readAll(name)
		if errors.Is(err, fs.ErrNotExist) {
			return l.corrupt(name, 0, "snapshot", errMissing)
		}
		var s snapshot
		var damaged *blobstore.CorruptError
		if err == nil {
			s, err = decodeSnapshot(index, data)
		} else if !errors.As(err, &damaged) {
			return err
		}
		var version *driverlog.VersionError
		if errors.As(err, &version) {
			return l.corrupt(name, 0, "snapshot", err) // an older one would undo what a newer program decided
		}
		if err != nil {
			l.damaged = errors.Join(l.damaged, l.corrupt(name, 0, "snapshot", err))
			continue
		}
		l.log, l.writer, l.fences, l.state, l.base = s.log, s.writer, s.fences, s.state, index
		return nil
	}
	return nil // from the first entry, if that is there
}

func (l *loader) readAll(name string) ([]byte, error) {
	r, size, err := l.store.Open(l.ctx, name)
	if err != nil {
		return nil, err
	}
	if size > maxSnapshot {
		return nil, errors.Join(&blobstore.CorruptError{Store: l.store.String(), Name: name, What: fmt.Sprintf("%d bytes", size)}, r.Close())
	}
	data, err := io.ReadAll(io.LimitReader(r, size+1))
	return data, errors.Join(err, r.Close())
}

// readGroup reads the object of the entry first and steps through its commands.
func (l *loader) readGroup(first uint64) error {
	name := l.names.entry(first)
	if want := l.state.Index + 1; first > want {
		err := l.corrupt(l.names.entry(want), want, "the next is "+name, errMissing)
		return errors.Join(err, l.damaged)
	} else if first < want {
		return l.corrupt(name, first, fmt.Sprintf("the object before it ends with entry %d", want-1), nil)
	}
	data, _, err := l.store.Read(l.ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return l.corrupt(name, first, "entries", errMissing)
	}
	var damaged *blobstore.CorruptError
	if errors.As(err, &damaged) || errors.Is(err, blobstore.ErrTooLarge) {
		return l.corrupt(name, first, "entries", err)
	}
	if err != nil {
		return err
	}
	g, err := decodeGroup(data)
	switch {
	case err != nil:
		return l.corrupt(name, first, "entries", err)
	case g.first != first:
		return l.corrupt(name, first, fmt.Sprintf("they say that they begin with %d", g.first), nil)
	case first == 1 && g.log != g.writer, first != 1 && g.log != l.log:
		return l.corrupt(name, first, "it is of another log", nil)
	case g.writer != l.writer && g.commands[0].Kind != driverlog.LeaderStart:
		return l.corrupt(name, first, "its writer has not begun to lead", nil)
	}
	l.log = g.log
	for i, cmd := range g.commands {
		index := first + uint64(i)
		res, err := driverlog.Step(&l.state, index, cmd)
		if err != nil || res.Duplicate {
			return l.corrupt(name, index, fmt.Sprintf("%s does not follow from the entries before it", cmd.Kind), err)
		}
		if l.keep {
			l.entries = append(l.entries, Entry{Index: index, Command: cmd})
		}
	}
	l.behind += len(g.commands)
	if g.writer != l.writer {
		l.fences = append(l.fences, first)
	} else {
		l.objects = append(l.objects, first)
	}
	l.writer = g.writer
	return nil
}
