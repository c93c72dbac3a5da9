package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/leat-io/leat/dstream"
)

// A StreamOutput is an output of a DStream case.
type StreamOutput struct {
	Of     string `json:"of"`
	As     string `json:"as"`
	Cmp    string `json:"cmp"`
	Mode   string `json:"mode"`
	Prefix string `json:"prefix"`
	Suffix string `json:"suffix"`
}

// ParseStreamOutput reads an output. A field it does not know is a NotBuiltError.
func ParseStreamOutput(raw json.RawMessage) (StreamOutput, error) {
	var o StreamOutput
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, &NotBuiltError{What: "output", Name: fmt.Sprintf("%s (%v)", raw, err)}
	}
	return o, nil
}

// Name returns the name that the output's batches go by.
func (o StreamOutput) Name() string {
	if o.As != "" {
		return o.As
	}
	return o.Of
}

// Declare makes the output collect into log, or do what its mode says. first says that it is in the first process of the case.
//
// Errors: *NotBuiltError for a mode it does not know; what is wrong with the declaration.
func (o StreamOutput) Declare(b *StreamBuilder, log *OutputLog, first bool) error {
	s := b.Named[o.Of]
	if s == nil {
		return fmt.Errorf("output %s: no stream %s", o.Name(), o.Of)
	}
	name := o.Name()
	collect := func(ctx context.Context, t dstream.Time, collect collector) error {
		parts, err := collect(ctx)
		if err == nil {
			log.produced(name, t, parts)
		}
		return err
	}
	each := func(f func(ctx context.Context, t dstream.Time, collect collector) error) error {
		return s.foreach(func(ctx context.Context, t dstream.Time, collect collector) error {
			log.started(name, t)
			return f(ctx, t, collect)
		}).Err()
	}
	mode, _ := split(o.Mode)
	switch mode {
	case "", "collect":
		return each(collect)
	case "nothing":
		return each(func(context.Context, dstream.Time, collector) error { return nil })
	case "text":
		if o.Prefix == "" {
			return &NotBuiltError{What: "output mode", Name: "text without prefix"}
		}
		return dstream.SaveAsTextFiles(s.Rows(), filepath.Join(log.dir, o.Prefix), o.Suffix).Err()
	}
	at, err := number("output mode", o.Mode)
	if err != nil {
		return err
	}
	if (mode == "fail-first" || mode == "block-first") && !first {
		return each(collect)
	}
	failed := fmt.Errorf("batch %d of %s: %w", at, name, ErrOutput)
	switch mode {
	case "fail-at", "fail-first":
		return each(func(ctx context.Context, t dstream.Time, c collector) error {
			if int64(t) == at {
				return failed
			}
			return collect(ctx, t, c)
		})
	case "collect-then-fail-at":
		return each(func(ctx context.Context, t dstream.Time, c collector) error {
			if err := collect(ctx, t, c); err != nil || int64(t) != at {
				return err
			}
			return failed
		})
	case "block-first":
		return each(func(ctx context.Context, t dstream.Time, c collector) error {
			if int64(t) == at {
				<-ctx.Done()
				return ctx.Err()
			}
			return collect(ctx, t, c)
		})
	}
	return &NotBuiltError{What: "output mode", Name: o.Mode}
}

// An OutputLog holds what the outputs of a run have produced.
type OutputLog struct {
	dir string // where text goes

	mu      sync.Mutex // guards the fields below
	order   []string   // executions in the order of their start, as "name@time"
	batches map[string]map[dstream.Time]Parts
}

// NewOutputLog returns an empty log; text files go to dir.
func NewOutputLog(dir string) *OutputLog {
	return &OutputLog{dir: dir, batches: map[string]map[dstream.Time]Parts{}}
}

func (l *OutputLog) started(name string, t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = append(l.order, fmt.Sprintf("%s@%d", name, int64(t)))
}

func (l *OutputLog) produced(name string, t dstream.Time, parts Parts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.batches[name] == nil {
		l.batches[name] = map[dstream.Time]Parts{}
	}
	l.batches[name][t] = parts
}

// Order returns the executions so far.
func (l *OutputLog) Order() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.order...)
}

// nextLife returns what outputs have produced in a process that has ended, and begins the next.
func (l *OutputLog) nextLife() map[string]map[dstream.Time]Parts {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended := l.batches
	l.batches = map[string]map[dstream.Time]Parts{}
	return ended
}

// Dirs returns the names of the folders that were written as text.
func (l *OutputLog) Dirs() ([]string, error) {
	names := []string{}
	entries, err := os.ReadDir(l.dir)
	if os.IsNotExist(err) {
		return names, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}
