package protocol_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// The checkers, by what they hold to be so after every step.
const (
	INV1   = "output: what sinks show is what one goroutine makes of the input, each row once (INV-1, I2, I3)"
	INV2   = "atomicity: a sink shows all rows of a batch or none (INV-2)"
	INV3   = "replay: a batch run again has the same input and gives the same rows (INV-3)"
	INV4   = "committed only: what sinks show is prepared in the log (INV-4)"
	INV5   = "offsets: batches take the input without gap or overlap (INV-5, I1)"
	INV6   = "log: ids dense, times rising, prepared and committed in order (INV-6, I4)"
	INV7   = "state: a batch starts from the state of the one before (INV-7)"
	INV8   = "windows: a batch sees its window, whole (INV-8)"
	INV9   = "marks: a sink's last batch never goes back (INV-9, I8)"
	INV10  = "bounded: what the log keeps does not grow with the batches (INV-10)"
	I5     = "one epoch: a command takes effect under the latest epoch only (I5)"
	INV13  = "fencing: no sink takes from an older epoch after a later one (INV-13)"
	INV15  = "liveness: when faults end batches commit within thirty seconds (INV-15, I13)"
	INV16  = "accounting: every batch reaches every output, or says that it did not (INV-16)"
	INV17  = "files: after a sweep nothing is left that nothing refers to (INV-17)"
	INV18  = "errors: what cannot be hidden ends the driver, and nothing else does (INV-18)"
	newest = "newest manifest: it says what each output has staged last, and which batches are owed"
	I6     = "decided first: no sink commits what the log has not prepared (I6)"
	I7     = "one manifest: a prepared batch keeps its manifest (I7)"
	I9     = "replicas: the same commands make the same state (I9)"
	I10    = "answers: what is acknowledged stays, what is refused has no effect (I10, INV-12)"
	I11    = "reachable: what the log refers to is there (I11)"
	I12    = "names: no two attempts write the same name (I12)"
	I14    = "restart: after all have been killed at once a driver goes on (I14)"
)

// checkers are all of them.
var checkers = []string{INV1, INV2, INV3, INV4, INV5, INV6, INV7, INV8, INV9, INV10, I5, INV13, INV15, INV16, INV17, INV18, newest, I6, I7, I9, I10, I11, I12, I14}

// accepted checks a command that took effect.
func (w *world) accepted(proposer uint64, cmd driverlog.Command) {
	if w.bug != "replica misses one" || cmd.Kind != driverlog.Checkpointed {
		if _, err := driverlog.Step(&w.replica, w.index, cmd); err != nil && w.bug == "" {
			w.breach(I9, "%s of batch %d: %v", cmd.Kind, cmd.Batch, err)
		}
	}
	if w.index%32 == 0 && w.replica.Digest() != w.state.Digest() {
		w.breach(I9, "at index %d", w.index)
	}
	if cmd.Kind != driverlog.LeaderStart && proposer != w.state.Epoch {
		w.breach(I5, "%s of batch %d under epoch %d, the latest is %d", cmd.Kind, cmd.Batch, proposer, w.state.Epoch)
	}
	n := int64(len(w.batches))
	switch cmd.Kind {
	case driverlog.Begin:
		r := record{time: cmd.Time, span: spanOf(driverlog.Batch{Inputs: cmd.Inputs})}
		if cmd.Batch != n || n > 0 && cmd.Time <= w.batches[n-1].time {
			w.breach(INV6, "begin of batch %d at %d", cmd.Batch, cmd.Time)
			return
		}
		if n > 0 && r.span.from != w.batches[n-1].span.to || n == 0 && r.span.from != 0 {
			w.breach(INV5, "batch %d takes from %d", cmd.Batch, r.span.from)
		}
		w.batches = append(w.batches, r)
	case driverlog.Prepared:
		r := &w.batches[cmd.Batch]
		switch {
		case r.prepared && !bytes.Equal(r.manifest, cmd.Manifest):
			w.breach(I7, "batch %d", cmd.Batch)
		case r.prepared || cmd.Batch > 0 && !w.batches[cmd.Batch-1].prepared:
			w.breach(INV6, "prepared of batch %d", cmd.Batch)
		}
		r.prepared, r.manifest = true, cmd.Manifest
		m, err := w.manifest(cmd.Batch)
		if err != nil {
			w.breach(I11, "manifest of batch %d: %v", cmd.Batch, err)
		}
		r.decoded = m
		w.remembers(cmd.Batch, cmd.Epoch, m)
	case driverlog.Committed:
		r := &w.batches[cmd.Batch]
		if r.committed || !r.prepared || cmd.Batch > 0 && !w.batches[cmd.Batch-1].committed {
			w.breach(INV6, "committed of batch %d", cmd.Batch)
		}
		r.committed = true
		m, err := w.manifest(cmd.Batch)
		if err != nil {
			return
		}
		for _, s := range m.Staged {
			if w.sinks[s.Output].mark < cmd.Batch {
				w.breach(INV16, "batch %d is committed, and output %s has not confirmed it", cmd.Batch, s.Output)
			}
		}
		for output := range w.sinks {
			if m.Kind == protocol.Done && r.span.sum() > 0 && !slices.ContainsFunc(m.Staged, func(s protocol.Staged) bool { return s.Output == output }) {
				w.breach(INV16, "batch %d says that it is done, without output %s", cmd.Batch, output)
			}
		}
		if m.Kind == protocol.Done && r.span.sum() > 0 && w.plain[cmd.Batch] == 0 {
			w.breach(INV16, "batch %d says that it is done, and the plain output has not run", cmd.Batch)
		}
	case driverlog.Checkpointed:
		if _, ok := w.files[string(cmd.Manifest)]; !ok {
			w.breach(I11, "checkpoint %s is not there", cmd.Manifest)
		}
	}
}

// remembers checks what a manifest says of the batches before it.
func (w *world) remembers(id int64, epoch uint64, m protocol.Manifest) {
	w.last = protocol.Marked(w.last, id, m.Staged)
	if got := protocol.Marked(m.Marks, id, m.Staged); !slices.Equal(got, w.last) {
		w.breach(newest, "batch %d: outputs have staged %d marks, want %d", id, len(got), len(w.last))
	}
	for before := int64(0); w.remember && before <= id; before++ {
		if w.batches[before].decoded.Kind == protocol.Aside && w.again[before] == 0 && !slices.Contains(m.Owed, before) {
			w.breach(newest, "batch %d does not say that %d is owed", id, before)
		}
		if w.again[before] == epoch && slices.Contains(m.Owed, before) {
			w.breach(newest, "batch %d says that %d is owed, which has run well", id, before)
		}
	}
}

// manifest returns that of a batch.
func (w *world) manifest(id int64) (protocol.Manifest, error) {
	data := w.batches[id].manifest
	m, reference, err := protocol.ReadManifest(data)
	if err != nil || reference == nil {
		return m, err
	}
	blob, ok := w.blobs[string(reference)]
	if !ok {
		return m, errors.New("its blob is gone")
	}
	return m, m.ReadList(blob.data, protocol.Listed(data))
}

// acknowledged checks that what is acknowledged is there.
func (w *world) acknowledged(cmd driverlog.Command) {
	app, there := w.app(), true
	switch cmd.Kind {
	case driverlog.Begin:
		there = app.Next > cmd.Batch
	case driverlog.Prepared:
		b, ok := app.Batch(cmd.Batch)
		there = ok && b.Prepared != 0
	case driverlog.Committed:
		there = app.Oldest() > cmd.Batch
	case driverlog.Checkpointed:
		there = app.Checkpoint.Index > 0 && app.Checkpoint.Batch >= cmd.Batch
	}
	if !there {
		w.breach(I10, "%s of batch %d is acknowledged and not there", cmd.Kind, cmd.Batch)
	}
	if len(app.Open) > driverlog.Window {
		w.breach(INV10, "%d batches are open", len(app.Open))
	}
}

// refused checks that a command is refused only where its term is over.
func (w *world) refused(cmd driverlog.Command, err error) {
	if cmd.Epoch == w.state.Epoch {
		w.breach(INV6, "%s of batch %d is refused: %v", cmd.Kind, cmd.Batch, err)
	}
}

// committing checks a commit before the sink looks at it.
func (w *world) committing(s *simSink, output string, b protocol.Batch, staged []byte) {
	if s.mark < s.top {
		w.breach(INV9, "output %s: mark goes back from %d to %d", output, s.top, s.mark)
	}
	if b.ID >= int64(len(w.batches)) || !w.batches[b.ID].prepared {
		w.breach(I6, "output %s: batch %d is not prepared", output, b.ID)
		return
	}
	m, err := w.manifest(b.ID)
	if err == nil && !w.batches[b.ID].committed && !slices.ContainsFunc(m.Staged, func(s protocol.Staged) bool {
		return s.Output == output && bytes.Equal(s.Bytes, staged)
	}) {
		w.breach(I6, "output %s: batch %d is prepared with something else", output, b.ID)
	}
}

// committed checks what the sink shows after a commit.
func (w *world) committed(s *simSink, output string, b protocol.Batch, staged []byte) {
	if got, want := len(s.shown[b.ID]), len(attempts(staged)); got != want {
		w.breach(INV2, "output %s: batch %d shows %d parts of %d", output, b.ID, got, want)
	}
	for _, name := range s.shown[b.ID] {
		if _, ok := w.staging[name]; !ok {
			w.breach(INV2, "output %s: batch %d shows %s, which was not staged", output, b.ID, name)
		}
	}
}

// wantRows returns what an output is to show of a batch.
func (w *world) wantRows(output string, id int64, total bool) string {
	r := w.batches[id]
	if r.span.sum() == 0 {
		return ""
	}
	if output == "b" {
		return fmt.Sprintf("%d: records %d to %d", id, r.span.from, r.span.to)
	}
	if !total {
		return fmt.Sprintf("%d: sum %d", id, r.span.sum())
	}
	return fmt.Sprintf("%d: sum %d total %d window %d", id, r.span.sum(), prefix(r.span.to), r.span.sumTo(w.batches[max(0, id-2)].span))
}

// sumTo is the sum from the start of an earlier span to the end of s.
func (s span) sumTo(earlier span) int64 { return prefix(s.to) - prefix(earlier.from) }

// ran checks the rows that a job is about to stage.
func (w *world) ran(output string, id int64, rows string) {
	key := fmt.Sprint(id, output)
	if first, ok := w.rows[key]; ok && first != rows {
		w.breach(INV3, "batch %d run again gives %q, first %q", id, rows, first)
	}
	w.rows[key] = rows
}

// swept checks what a sweep has left.
func (w *world) swept(epoch uint64) {
	used, app := w.referred(), w.app()
	left := 0
	for reference, s := range w.blobs {
		if !used[reference] && s.epoch <= epoch {
			left++
		}
	}
	for name, s := range w.files {
		if name != string(app.Checkpoint.Manifest) && s.epoch <= epoch {
			left++
		}
	}
	for _, e := range w.temps {
		if e <= epoch {
			left++
		}
	}
	if left > 0 {
		w.breach(INV17, "%d files are left after a sweep of epoch %d", left, epoch)
	}
	w.reachable()
}

// reachable checks that all that the log refers to is there.
func (w *world) reachable() {
	missing := 0
	for reference := range w.referred() {
		if _, ok := w.blobs[reference]; !ok {
			missing++
		}
	}
	if app := w.app(); app.Checkpoint.Index > 0 {
		if _, ok := w.files[string(app.Checkpoint.Manifest)]; !ok {
			missing++
		}
	}
	if missing > 0 {
		w.breach(I11, "%d files that the log refers to are gone", missing)
	}
}

// visible checks that all that sinks show of batches from id on is decided.
func (w *world) visible(from int64) {
	for _, output := range []string{"a", "b"} {
		for id := max(from, 0); id <= w.sinks[output].mark; id++ {
			if len(w.sinks[output].shown[id]) > 0 && (id >= int64(len(w.batches)) || !w.batches[id].prepared) {
				w.breach(INV4, "output %s shows batch %d, which is not prepared", output, id)
			}
		}
	}
}

// atEnd checks all that is to be so when nothing is under way.
func (w *world) atEnd(s *simulation) {
	app := w.app()
	if len(app.Open) > 0 || app.Next != int64(len(w.batches)) {
		w.breach(INV6, "%d batches of %d are open, the log has been told of %d", len(app.Open), app.Next, len(w.batches))
	}
	if w.replica.Digest() != w.state.Digest() {
		w.breach(I9, "at the end")
	}
	w.visible(0)
	w.reachable()
	for id := range w.batches {
		id := int64(id)
		m := w.batches[id].decoded
		for _, output := range []string{"a", "b"} {
			want := ""
			failed := slices.ContainsFunc(m.Failures, func(f protocol.Failure) bool { return outputNames[f.Output] == output })
			if m.Kind == protocol.Done || m.Kind == protocol.Aside && !failed {
				want = w.wantRows(output, id, s.durable)
			}
			got := ""
			for _, name := range w.sinks[output].shown[id] {
				got += w.staging[name]
			}
			if got != want {
				w.breach(INV1, "output %s shows of batch %d %q, want %q", output, id, got, want)
			}
		}
		if plainFailed := slices.ContainsFunc(m.Failures, func(f protocol.Failure) bool { return f.Output == 0 }); m.Kind == protocol.Done && !plainFailed &&
			w.batches[id].span.sum() > 0 && w.plain[id] == 0 {
			w.breach(INV16, "the plain output has never run for batch %d", id)
		}
	}
	if kept, bound := len(app.Kept), int(s.period)+8; s.durable && !s.repeats && kept > bound {
		w.breach(INV10, "%d batches are kept, more than %d", kept, bound)
	}
}
