package crashtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream/sink"
)

// A Promise is what must hold whatever happens to processes.
type Promise int

// The promises.
const (
	// CommittedOnce: every batch is committed once for each output, and its rows show once.
	CommittedOnce Promise = iota
	// RowsEqual: the rows of each batch are those of the undisturbed run.
	RowsEqual
	// InputRecorded: a batch that is run again has the input that it recorded.
	InputRecorded
	// NoneSkipped: batch times follow each other without gaps, and no output leaves out a batch.
	NoneSkipped
	// StateEqual: the batch that follows when all is done has the rows of the undisturbed run, so state has no other value.
	StateEqual
	// Acknowledged: what was acknowledged to a receiver is in exactly one batch.
	Acknowledged
	// EffectsHappen: what an output does outside happens at least once for each batch.
	EffectsHappen
	// GoesOn: a process that no fault hits ends well.
	GoesOn
)

// String returns the promise in words.
func (p Promise) String() string {
	switch p {
	case CommittedOnce:
		return "every batch is committed once"
	case RowsEqual:
		return "rows are those of the undisturbed run"
	case InputRecorded:
		return "recorded input is what runs again"
	case NoneSkipped:
		return "no batch is skipped"
	case StateEqual:
		return "state is that of the undisturbed run"
	case Acknowledged:
		return "what was acknowledged is in one batch"
	case EffectsHappen:
		return "effects happen at least once"
	case GoesOn:
		return "the program goes on"
	}
	return fmt.Sprintf("promise %d", int(p))
}

// A result is what there is to see after a case.
type result struct {
	rows    map[string]map[int64][]string // by output and batch time
	shown   map[string][]string
	effects map[string]map[int64]int
}

// look returns what the outputs show.
func (w *World) look() (result, error) {
	w.current().read()
	r := result{rows: map[string]map[int64][]string{}, shown: map[string][]string{}, effects: w.effects}
	for _, name := range w.names {
		a := w.outputs[name]
		r.rows[name] = a.rows
		if a.shown == nil {
			continue
		}
		rows, err := a.shown()
		if err != nil {
			return r, fmt.Errorf("read output %s: %w", name, err)
		}
		slices.Sort(rows)
		r.shown[name] = rows
	}
	return r, nil
}

// compare compares a case with the undisturbed run. end is the time of the last batch before the one that follows.
func (w *World) compare(got, want result, end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acknowledged()
	if len(w.receivers) == 0 {
		for _, name := range w.names {
			w.compareRows(name, got.rows[name], want.rows[name], end)
		}
	}
	for _, name := range w.names {
		shown, ok := got.shown[name]
		if !ok {
			continue
		}
		// What the sink said that it committed.
		var said []string
		for _, rows := range got.rows[name] {
			said = append(said, rows...)
		}
		slices.Sort(said)
		missing, more := without(said, shown), without(shown, said)
		if len(more) > 0 && w.outputs[name].promise == sink.ExactlyOnce {
			w.breachHeld(CommittedOnce, "output %s: shows rows more often than they were committed: %s", name, few(more))
		}
		if len(missing) > 0 {
			w.breachHeld(CommittedOnce, "output %s: does not show rows that were committed: %s", name, few(missing))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.effects)) {
		for _, t := range slices.Sorted(maps.Keys(want.effects[name])) {
			if n := want.effects[name][t]; got.effects[name][t] < n && len(w.receivers) == 0 {
				w.breachHeld(EffectsHappen, "effects %s: the batch at %d ms has %d, want at least %d", name, t, got.effects[name][t], n)
			}
		}
	}
}

func (w *World) compareRows(name string, got, want map[int64][]string, end int64) {
	for _, t := range slices.Sorted(maps.Keys(want)) {
		rows, ok := got[t]
		promise := RowsEqual
		if t > end {
			promise = StateEqual
		}
		if !ok {
			w.breachHeld(NoneSkipped, "output %s: the batch at %d ms is not committed", name, t)
		} else if diff := difference(rows, want[t]); diff != "" {
			w.breachHeld(promise, "output %s, batch at %d ms: %s", name, t, diff)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[t]; !ok {
			w.breachHeld(NoneSkipped, "output %s: there is a batch at %d ms that the undisturbed run has not", name, t)
		}
	}
}

// difference says how sorted rows differ, empty if they do not.
func difference(got, want []string) string {
	missing, more := without(want, got), without(got, want)
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "lacks "+few(missing))
	}
	if len(more) > 0 {
		parts = append(parts, "has besides "+few(more))
	}
	return strings.Join(parts, ", ")
}

// without returns the rows of a that b has not, as often as that. Both are sorted.
func without(a, b []string) (left []string) {
	for _, row := range a {
		for len(b) > 0 && b[0] < row {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == row {
			b = b[1:]
			continue
		}
		left = append(left, row)
	}
	return left
}

// few returns the first rows.
func few(rows []string) string {
	if len(rows) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(rows[:4], ", "), len(rows)-4)
	}
	return strings.Join(rows, ", ")
}
