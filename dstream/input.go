package dstream

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// An Input gives the RDD of each batch of an input stream.
//
// RDD is called at most once for each batch time, times ascending unless a batch is asked for again after
// it was forgotten, one call at a time, also with the methods of the
// interfaces below. It must not block on jobs, and not use streams or outputs of the graph.
type Input[T any] interface {
	// RDD returns the batch's records, made through c; nil where the stream is absent.
	RDD(c *rdd.Context, t Time) (*rdd.RDD[T], error)
}

// An InputReporter is an Input that says how much it gave to a batch.
type InputReporter interface {
	// Report is called after RDD returned for t; ok is false where there is nothing to report.
	Report(t Time) (records int64, description string, ok bool)
}

// An InputLagger is an InputReporter that leaves some of what is there for later batches.
type InputLagger interface {
	// Lag is called after Report for the newest batch and returns how many items wait for a later one, and their bytes.
	Lag() (items, bytes int64)
}

// An InputForgetter is an Input that is told when a batch's RDD has been forgotten.
type InputForgetter interface{ Forget(upTo Time) }

// InputInfo is what one input gave to one batch.
type InputInfo struct {
	Stream      int // the input's number, from 0 in the order declared
	Records     int64
	Description string // for people: the files or offsets it came from
	// Waiting is how many items, as files, were there and were left for later batches, because of a limit or a rate, and
	// WaitingBytes how large they are together.
	Waiting, WaitingBytes int64
}

// InputStream is an input as the context that runs it sees it.
type InputStream struct {
	ID    int    // from 0, in the order declared
	Name  string // as in "Queue stream [0]"
	Site  string
	Input any // the Input[T] it was declared with
}

// NewInput returns a new input stream with the graph's interval as its slide. op is the stable name of
// its kind, as in "socketText"; name is for people, as in "Socket stream".
//
// Errors: Start reports a nil in as ErrNilFunction.
func NewInput[T any](g *Graph, op, name string, in Input[T]) *DStream[T] {
	var err error
	if in == nil {
		err = ErrNilFunction
	}
	s := newStream[T](g, op, err)
	if s.node.err != nil {
		return s
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	id := 0
	for _, n := range g.nodes {
		if n.input != nil {
			id++
		}
	}
	s.input = &InputStream{ID: id, Name: fmt.Sprintf("%s [%d]", name, id), Site: s.site, Input: in}
	reporter, _ := in.(InputReporter)
	lagger, _ := in.(InputLagger)
	forgetter, _ := in.(InputForgetter)
	_, recorded := in.(InputRecorder)
	var forgetting error // what became of a Forget; whoever forgets has no batch to fail, so the next one does
	s.compute = func(t Time) (*rdd.RDD[T], error) {
		if forgetting != nil {
			return nil, forgetting
		}
		if recorded {
			if given, err := g.given(t); !given {
				return nil, err
			}
		}
		again := t <= s.newest // forgotten, and asked for once more: what it gave is known
		c := s.rddsAt(t)
		r, err := called(func() (*rdd.RDD[T], error) { return in.RDD(c, t) })
		if err != nil || reporter == nil || again && g.reported(t, id) {
			return r, err
		}
		info := InputInfo{Stream: id}
		var ok bool
		if err := apart(func() { info.Records, info.Description, ok = reporter.Report(t) }); err != nil {
			return nil, fmt.Errorf("report of an input: %w", err)
		}
		if ok && lagger != nil {
			if err := apart(func() { info.Waiting, info.WaitingBytes = lagger.Lag() }); err != nil {
				return nil, fmt.Errorf("lag of an input: %w", err)
			}
		}
		if ok {
			err = g.report(t, info)
		}
		return r, err
	}
	if forgetter != nil {
		s.dropped = func(upTo Time) {
			if err := apart(func() { forgetter.Forget(upTo) }); err != nil {
				forgetting = fmt.Errorf("batch %s is forgotten: %w", upTo, err)
			}
		}
	}
	return s
}

// reported reports whether an input has told what it gave to a batch. The graph's lock is held.
func (g *Graph) reported(t Time, stream int) bool {
	return slices.ContainsFunc(g.infos[t], func(have InputInfo) bool { return have.Stream == stream })
}

// report keeps what an input gave to a batch. The graph's lock is held.
func (g *Graph) report(t Time, info InputInfo) error {
	if info.Records < 0 {
		return fmt.Errorf("input %d: %w: %d", info.Stream, ErrNegativeRecords, info.Records)
	}
	if g.reported(t, info.Stream) {
		return fmt.Errorf("input %d: %w", info.Stream, ErrDuplicateInputInfo)
	}
	g.infos[t] = append(g.infos[t], info)
	return nil
}

// InputInfos returns what the inputs reported for batch t, in the order of the reports.
func (g *Graph) InputInfos(t Time) []InputInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]InputInfo(nil), g.infos[t]...)
}
