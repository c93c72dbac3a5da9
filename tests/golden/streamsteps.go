package golden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
)

// asking are the steps that ask something.
func (r *streamRun) asking(ctx context.Context, s Step) (done bool, answer Answer, err error) {
	switch s.Do {
	case "state":
		return true, Fact{r.ssc.State().String()}, nil
	case "active":
		return true, Fact{r.engine.Active() == r.ssc}, nil
	case "output-dirs":
		dirs, err := r.outputs.Dirs()
		return true, Fact{dirs}, err
	case "info", "memo":
		x, err := r.stream(s)
		if err != nil {
			return true, nil, err
		}
		if s.Do == "info" {
			return true, Fact{infoOf(x.info())}, nil
		}
		times := []int64{}
		for _, t := range x.remembered() {
			times = append(times, int64(t))
		}
		return true, Fact{times}, nil
	case "slice":
		answer, err := r.slice(ctx, s)
		return true, answer, err
	}
	return false, nil, nil
}

// stream returns the stream that a step names.
func (r *streamRun) stream(s Step) (*Stream, error) {
	x := r.builder.Named[s.Of]
	if x == nil {
		return nil, fmt.Errorf("no stream %s", s.Of)
	}
	for range s.Up {
		if x = x.parent; x == nil {
			return nil, &NotBuiltError{What: "step", Name: s.Do + " of an internal stream"}
		}
	}
	return x, nil
}

// infoOf writes a stream's settings as cases do.
func infoOf(info dstream.Info) map[string]any {
	m := map[string]any{
		"slide": info.Slide.Milliseconds(), "remember": info.Remember.Milliseconds(), "checkpoint": nil,
		"zero": int64(info.Zero), "storage": info.Level.String(),
	}
	if info.Checkpoint != 0 {
		m["checkpoint"] = info.Checkpoint.Milliseconds()
	}
	return m
}

// slice computes the RDDs of a stretch of time.
func (r *streamRun) slice(ctx context.Context, s Step) (Answer, error) {
	var from, to dstream.Time
	if err := errors.Join(json.Unmarshal(s.From, &from), json.Unmarshal(s.To, &to)); err != nil {
		return nil, err
	}
	x, err := r.stream(s)
	if err != nil {
		return nil, err
	}
	if x.inner != nil {
		return nil, &NotBuiltError{What: "step", Name: "slice of an internal stream"}
	}
	batches, err := x.slice(from, to)
	if err != nil {
		return nil, err
	}
	var all Batches
	for _, collect := range batches {
		parts, err := collect(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, parts)
	}
	return all, nil
}

// Batches are the partitions of several RDDs.
type Batches []Parts

// Matches compares them RDD by RDD.
func (b Batches) Matches(cmp string, raw json.RawMessage) error {
	var want []json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	if len(b) != len(want) {
		return differs(fmt.Sprintf("%d RDDs", len(b)), raw)
	}
	for i, parts := range b {
		if err := parts.Matches(cmp, json.RawMessage(`{"parts":`+string(want[i])+`}`)); err != nil {
			return err
		}
	}
	return nil
}

// changing are the steps that declare, set or feed something.
func (r *streamRun) changing(ctx context.Context, s Step) (done bool, answer Answer, err error) {
	switch s.Do {
	case "node":
		op, err := ParseStreamOperation(s.Node)
		if err == nil {
			_, err = r.builder.Build(ctx, op)
		}
		return true, nil, err
	case "output":
		o, err := ParseStreamOutput(s.Output)
		if err == nil {
			err = o.Declare(r.builder, r.outputs, len(r.lives) == 0)
		}
		if err == nil {
			r.declared = append(r.declared, o)
		}
		return true, nil, err
	case "remember":
		return true, nil, r.ssc.Remember(milliseconds(s.MS))
	case "persist", "checkpoint":
		x, err := r.stream(s)
		switch {
		case err != nil:
			return true, nil, err
		case x.inner != nil:
			return true, nil, &NotBuiltError{What: "step", Name: s.Do + " of an internal stream"}
		case s.Do == "persist":
			return true, nil, x.persist(s.Level)
		}
		return true, nil, x.kept.Checkpoint(milliseconds(s.MS))
	case "push":
		var to string
		if err := json.Unmarshal(s.To, &to); err != nil {
			return true, nil, err
		}
		rows, err := ParseValues(s.Rows)
		if err != nil {
			return true, nil, err
		}
		parts := 1
		if s.Parts != nil {
			parts = *s.Parts
		}
		return true, nil, r.builder.push(to, rows, parts)
	}
	return false, nil, nil
}

// filesDir is where the files of the case appear.
func (r *streamRun) filesDir() string { return filepath.Join(r.opts.Dir, "files") }

// files are the steps about files and folders of the case.
func (r *streamRun) files(_ context.Context, s Step) (done bool, answer Answer, err error) {
	in := func(name string) string { return filepath.Join(r.filesDir(), name) }
	switch s.Do {
	case "file":
		return true, nil, appear(filepath.Join(r.opts.Dir, "unseen"), in(s.Name), s.Lines, s.MTime)
	case "mkdir":
		return true, nil, os.MkdirAll(in(s.Name), 0o755)
	case "rename-dir":
		var from, to string
		if err := errors.Join(json.Unmarshal(s.From, &from), json.Unmarshal(s.To, &to)); err != nil {
			return true, nil, err
		}
		return true, nil, os.Rename(in(from), in(to))
	case "no-dir":
		return true, nil, os.RemoveAll(r.filesDir())
	}
	return false, nil, nil
}

// appear makes a file of lines appear whole, with its modification time in milliseconds.
func appear(unseen, path string, lines []string, mtime int64) error {
	for _, dir := range []string{unseen, filepath.Dir(path)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	made := filepath.Join(unseen, filepath.Base(path))
	if err := os.WriteFile(made, []byte(text.String()), 0o644); err != nil {
		return err
	}
	at := time.UnixMilli(mtime)
	if err := os.Chtimes(made, at, at); err != nil {
		return err
	}
	info, err := os.Stat(made)
	if err != nil {
		return err
	}
	if got := info.ModTime().UnixMilli(); got != mtime {
		return fmt.Errorf("the file system keeps %d ms as %d ms: modification times of cases cannot be had here", mtime, got)
	}
	return os.Rename(made, path)
}
