package protocol_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

const appName = "app"

// A world is what outlives drivers: the driver log, the files, the sinks and the source. Record i of the source is i%7+1.
type world struct {
	rng *rand.Rand
	bug string // a fault of the world, or of what stands between it and the cores, that a checker must find
	now int64

	state   driverlog.State
	replica driverlog.State // a second one, fed the same commands
	index   uint64
	undo    []driverlog.State // before each of the last Committed, which are not durable yet
	late    []lateCommands
	leading map[uint64]*driver // by epoch

	batches  []record          // what the log has ever been told of each batch, by id
	staging  map[string]string // rows by attempt
	rows     map[string]string // of the first try, by batch and output
	last     []protocol.Mark   // what each output has staged last, of prepared batches
	remember bool              // batches that were set aside are owed until they have run well
	again    map[int64]uint64  // the epoch in which those have that have
	blobs    map[string]stored // by reference
	files    map[string]stored // checkpoints
	temps    []uint64          // epochs of files that are not whole
	sinks    map[string]*simSink
	plain    map[int64]int // how often the plain output has run to its end, by batch

	hash  hash.Hash64
	tail  []string
	lines int

	breaches []string
	broken   map[string]bool // checkers that have found something
}

type lateCommands struct {
	at   int64
	cmds []driverlog.Command
}

// record is what the log was told of a batch.
type record struct {
	time      int64
	span      span
	manifest  []byte
	decoded   protocol.Manifest
	prepared  bool
	committed bool
}

// span is what a batch takes of the source.
type span struct{ from, to int64 }

func (s span) sum() int64 { return prefix(s.to) - prefix(s.from) }

// prefix is the sum of the records before i.
func prefix(i int64) int64 { return i/7*28 + i%7*(i%7+1)/2 }

func (s span) encode() []byte { return fmt.Appendf(nil, "%d-%d", s.from, s.to) }

func spanOf(b driverlog.Batch) (s span) {
	if len(b.Inputs) > 0 {
		_, _ = fmt.Sscanf(string(b.Inputs[0].Data), "%d-%d", &s.from, &s.to)
	}
	return s
}

// stored is a file, and the epoch that wrote it last.
type stored struct {
	data  []byte
	epoch uint64
}

// simSink is a sink as the contract has it.
type simSink struct {
	mark  int64
	top   int64 // the highest mark ever
	epoch uint64
	sum   [sha256.Size]byte
	shown map[int64][]string // attempts by batch
}

func newWorld(seed uint64, bug string) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 7)), bug: bug, now: 1_000_000, leading: map[uint64]*driver{},
		staging: map[string]string{}, rows: map[string]string{}, blobs: map[string]stored{}, files: map[string]stored{},
		sinks: map[string]*simSink{"a": {mark: -1, top: -1, shown: map[int64][]string{}}, "b": {mark: -1, top: -1, shown: map[int64][]string{}}},
		plain: map[int64]int{}, again: map[int64]uint64{}, hash: fnv.New64a(), broken: map[string]bool{}}
}

// tracef adds a line to the trace.
func (w *world) tracef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	_, _ = w.hash.Write([]byte(line))
	w.lines++
	if w.tail = append(w.tail, fmt.Sprintf("%6d %8d  %s", w.lines, w.now, line)); len(w.tail) > 160 {
		w.tail = append(w.tail[:0], w.tail[80:]...)
	}
}

// breach says what a checker has found.
func (w *world) breach(checker, format string, args ...any) {
	w.broken[checker] = true
	if len(w.breaches) < 20 {
		w.breaches = append(w.breaches, checker+": "+fmt.Sprintf(format, args...))
	}
	w.tracef("BREACH %s: "+format, append([]any{checker}, args...)...)
}

func (w *world) app() *driverlog.App {
	app := w.state.App(appName)
	return &app
}

var errRefused = driverlog.ErrNotLeader

// propose applies commands in one group.
func (w *world) propose(cmds []driverlog.Command) error {
	for _, cmd := range cmds {
		if err := w.entry(cmd, len(cmds) == 1); err != nil {
			return err
		}
	}
	return nil
}

// apply is propose for one command.
func (w *world) apply(cmd driverlog.Command) error { return w.entry(cmd, true) }

// losePower undoes some of the last Committed, which are durable with the next command of another kind only.
func (w *world) losePower() {
	keep := w.rng.IntN(len(w.undo))
	w.state = w.undo[keep]
	w.replica = w.state.Clone()
	w.undo, w.late = nil, nil
	for id := w.app().Oldest(); id < int64(len(w.batches)); id++ {
		w.batches[id].committed = false
	}
}

// entry is one entry of the log.
func (w *world) entry(cmd driverlog.Command, alone bool) error {
	proposer := cmd.Epoch
	if w.bug == "no fence" && cmd.Kind != driverlog.LeaderStart {
		cmd.Epoch = w.state.Epoch
	}
	cmd.Manifest = slices.Clone(cmd.Manifest)
	w.index++
	if w.bug == "acknowledged and lost" && cmd.Kind == driverlog.Committed && cmd.Batch%5 == 4 && w.state.Epoch == cmd.Epoch {
		w.acknowledged(cmd)
		return nil
	}
	var before driverlog.State
	if cmd.Kind == driverlog.Committed {
		before = w.state.Clone()
	}
	res, err := driverlog.Step(&w.state, w.index, cmd)
	if w.bug == "other manifest" {
		if _, conflict := errors.AsType[*driverlog.ConflictError](err); conflict || res.Duplicate && cmd.Kind == driverlog.Prepared {
			cmd.Manifest = append(cmd.Manifest, 0)
			w.accepted(proposer, cmd)
			return nil
		}
	}
	if err != nil {
		w.refused(cmd, err)
		if w.state.Index == w.index {
			w.breach(I10, "a refused command changed the state")
		}
		return err
	}
	if !res.Duplicate {
		if cmd.Kind == driverlog.Committed && alone {
			w.undo = append(w.undo, before)
		} else {
			w.undo = nil
		}
		w.accepted(proposer, cmd)
		if w.bug == "entry twice" && cmd.Kind == driverlog.Begin && cmd.Batch%7 == 3 {
			w.accepted(proposer, cmd)
		}
	}
	w.acknowledged(cmd)
	return nil
}

// stage keeps rows under a name.
func (w *world) stage(name, rows string) {
	if _, ok := w.staging[name]; ok {
		w.breach(I12, "two attempts write %s", name)
	}
	w.staging[name] = rows
}

// errors of sinks.
var (
	errSink     = errors.New("the sink fails")
	errFinal    = errors.New("the sink fails for good")
	errConflict = errors.New("conflict")
	errFenced   = errors.New("fenced by the sink")
)

// commit is a sink's commit.
func (w *world) commit(output string, b protocol.Batch, epoch uint64, staged []byte, half bool) error {
	s := w.sinks[output]
	digest := sha256.Sum256(staged)
	w.committing(s, output, b, staged)
	switch {
	case b.ID == s.mark && digest != s.sum:
		w.breach(INV3, "output %s: batch %d committed with other rows", output, b.ID)
		return errConflict
	case b.ID <= s.mark && w.bug != "shown twice":
		return nil
	case epoch < s.epoch && w.bug != "sink does not fence":
		return errFenced
	}
	if w.bug == "rows lost" && b.ID%4 == 3 {
		s.mark, s.epoch, s.sum = b.ID, epoch, digest
		return nil
	}
	names := attempts(staged)
	if w.bug == "half shown" && half {
		names = names[:len(names)/2]
	}
	if epoch < s.epoch {
		w.breach(INV13, "output %s: epoch %d takes effect after %d", output, epoch, s.epoch)
	}
	s.shown[b.ID] = append(s.shown[b.ID], names...)
	s.mark, s.epoch, s.sum = b.ID, max(epoch, s.epoch), digest
	s.top = max(s.top, s.mark)
	w.committed(s, output, b, staged)
	return nil
}

// attempts returns the names in staged bytes.
func attempts(staged []byte) (names []string) {
	for _, f := range bytes.Fields(staged) {
		names = append(names, string(f))
	}
	return names
}

// putBlob stores one and returns its reference.
func (w *world) putBlob(data []byte, epoch uint64) []byte {
	sum := sha256.Sum256(data)
	w.blobs[string(sum[:])] = stored{slices.Clone(data), epoch}
	return sum[:]
}

// referred returns the blobs that the log refers to.
func (w *world) referred() map[string]bool {
	app, used := w.app(), map[string]bool{}
	for _, b := range append(slices.Clone(app.Open), app.Last) {
		if len(b.Manifest) == 0 {
			continue
		}
		if _, reference, err := protocol.ReadManifest(b.Manifest); err == nil && reference != nil {
			used[string(reference)] = true
		}
	}
	return used
}

// sweep removes what the log does not refer to and no later epoch has written: what a later one has may be referred to next.
func (w *world) sweep(epoch uint64) {
	if w.bug == "never swept" {
		return
	}
	used := w.referred()
	spare := func(s stored) bool { return s.epoch > epoch && w.bug != "stale sweep" }
	for reference, s := range w.blobs {
		if !spare(s) && (!used[reference] || w.bug == "eager sweep" && s.data[0]%2 == 0) {
			delete(w.blobs, reference)
		}
	}
	for name, s := range w.files {
		if !spare(s) && name != string(w.app().Checkpoint.Manifest) {
			delete(w.files, name)
		}
	}
	if w.bug != "temporaries left" {
		w.temps = slices.DeleteFunc(w.temps, func(e uint64) bool { return e <= epoch })
	}
}
