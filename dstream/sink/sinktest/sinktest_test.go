package sinktest_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/sinktest"
)

// memory is the smallest storage that keeps the contract: a map of parts by name, a list of commits.
type memory struct {
	bug string // what it does wrong

	mu      sync.Mutex // guards what follows
	parts   map[string][]string
	commits map[place][]commit
}

type place struct{ app, output string }

type commit struct {
	mark  sink.Mark
	parts [][]string
}

func (m *memory) Begin(ctx context.Context, _ sink.Batch, _ int) error { return ctx.Err() }

func (m *memory) Part(ctx context.Context, b sink.Batch, part int, attempt string) (sink.Writer[string], error) {
	return &writer{m: m, name: fmt.Sprintf("%v/%d/%s", b, part, attempt)}, ctx.Err()
}

type writer struct {
	m    *memory
	name string
	rows []string
}

func (w *writer) Write(rows []string) error {
	if w.m.bug == "keeps rows" && w.rows == nil {
		w.rows = rows
		return nil
	}
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *writer) Finish(ctx context.Context) ([]byte, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if ctx.Err() == nil || w.m.bug == "ignores contexts" {
		w.m.parts[w.name] = w.rows
	}
	if w.m.bug == "ignores contexts" {
		return []byte(strconv.Quote(w.name)), nil
	}
	return []byte(strconv.Quote(w.name)), ctx.Err()
}

func (w *writer) Abort(context.Context) error { return nil }

func (m *memory) Seal(ctx context.Context, _ sink.Batch, notes [][]byte) ([]byte, error) {
	var staged []byte
	for _, note := range notes {
		staged = append(append(staged, note...), '\n')
	}
	return staged, ctx.Err()
}

func (m *memory) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, is := place{b.App, b.Output}, sha256.Sum256(staged)
	if m.bug == "forgets the application" {
		at.app = "app"
	}
	for _, c := range m.commits[at] {
		switch {
		case m.bug == "doubles" && c.mark.Digest == is:
		case m.bug == "overwrites" && c.mark.ID == b.ID && c.mark.Digest != is:
		case m.bug == "does not fence" && c.mark.Epoch > b.Epoch:
		case c.mark.ID == b.ID && c.mark.Digest != is:
			return &sink.ConflictError{Batch: b}
		case c.mark.ID == b.ID:
			return nil
		case c.mark.Epoch > b.Epoch:
			return &sink.FencedError{Batch: b, Have: c.mark.Epoch}
		}
	}
	next := commit{mark: sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: is}}
	for line := range slices.Values(splitLines(staged)) {
		name, err := strconv.Unquote(line)
		if err != nil {
			return err
		}
		next.parts = append(next.parts, m.parts[name])
		if m.bug == "shows parts" { // for a moment
			m.commits[at] = append(m.commits[at], next)
			m.mu.Unlock()
			runtime.Gosched()
			m.mu.Lock()
			m.commits[at] = m.commits[at][:len(m.commits[at])-1]
		}
		if m.bug == "shows other attempts" {
			for _, other := range slices.Sorted(maps.Keys(m.parts)) {
				if other != name && strings.HasPrefix(other, fmt.Sprintf("%v/%d/", b, len(next.parts)-1)) {
					next.parts[len(next.parts)-1] = append(next.parts[len(next.parts)-1], m.parts[other]...)
				}
			}
		}
	}
	m.commits[at] = append(m.commits[at], next)
	return nil
}

func splitLines(staged []byte) (lines []string) {
	for start, i := 0, 0; i < len(staged); i++ {
		if staged[i] == '\n' {
			lines = append(lines, string(staged[start:i]))
			start = i + 1
		}
	}
	return lines
}

func (m *memory) Clean(ctx context.Context, b sink.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.bug {
	case "cleans what is committed":
		delete(m.commits, place{b.App, b.Output})
	case "cleans what is staged":
		clear(m.parts)
	}
	return ctx.Err()
}

func (m *memory) Last(ctx context.Context, app, output string) (sink.Mark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	commits := m.commits[place{app, output}]
	if m.bug == "tells no batch" || len(commits) == 0 {
		return sink.Mark{ID: -1}, ctx.Err()
	}
	return commits[len(commits)-1].mark, ctx.Err()
}

func (m *memory) rows() ([]sinktest.Row[string], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []sinktest.Row[string]
	for _, at := range slices.SortedFunc(maps.Keys(m.commits), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.app, b.app), cmp.Compare(a.output, b.output))
	}) {
		for _, c := range m.commits[at] {
			for part, values := range c.parts {
				for _, v := range values {
					rows = append(rows, sinktest.Row[string]{App: at.app, Output: at.output, Batch: c.mark.ID, Partition: part, Value: v})
				}
			}
		}
	}
	return rows, nil
}

func TestTheSuiteAcceptsAPlainSink(t *testing.T) { run(t, "") }

func run(t *testing.T, bug string) {
	sinktest.Run(t, func(t *testing.T) sinktest.Target[string] {
		m := &memory{bug: bug, parts: make(map[string][]string), commits: make(map[place][]commit)}
		return sinktest.Target[string]{Sink: m, Reopen: func() sink.Sink[string] { return m }, Rows: m.rows, Value: strconv.Itoa}
	})
}

// planted is set in the processes that TestTheSuiteFindsPlantedBugs starts.
var planted = flag.String("planted", "", "run the suite on a sink with this bug")

func TestTheSuiteFindsPlantedBugs(t *testing.T) {
	if *planted != "" {
		run(t, *planted)
		return
	}
	for _, c := range []struct{ bug, found string }{
		{"forgets the application", "outputs_and_applications_are_kept_apart"},
		{"doubles", "commit_again_changes_nothing"},
		{"overwrites", "other_rows_for_a_committed_batch_are_refused"},
		{"does not fence", "lower_epochs_are_refused"},
		{"shows parts", "a_reader_beside_commits_sees_whole_batches"},
		{"shows other attempts", "of_two_attempts_the_named_one_shows"},
		{"ignores contexts", "an_ended_context_is_obeyed"},
		{"keeps rows", "nothing_shows_before_commit_and_all_after"},
		{"cleans what is committed", "clean_keeps_committed_rows"},
		{"cleans what is staged", "clean_leaves_later_batches_alone"},
		{"tells no batch", "last_tells_what_was_committed"},
	} {
		t.Run(c.bug, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheSuiteFindsPlantedBugs$", "-planted="+c.bug).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestTheSuiteFindsPlantedBugs/"+c.found) {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
