package dstream

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// A Recovery is what an earlier process has left of a graph.
type Recovery struct {
	Zero Time // the time before its first batch
	Last Time // the last batch that it began, Zero if none
	// Times are the batches it began whose inputs are known, which the InputRecorders among the inputs have been given with
	// Replay. Batches up to Last that are not among them were never begun, unless they are older than all of them: then their
	// inputs are forgotten.
	Times []Time
	// Whole says that Times are all batches it ever began, so that nothing is forgotten.
	Whole bool
	// Gaps are batch times that were left out, ascending.
	Gaps []Gap
	// Streams is what Graph.Checkpoint returned there. Batches behind Last in it are left out.
	Streams []StreamCheckpoint
}

// Recover starts the graph where an earlier process with the same declarations has left off: it is called in place of
// Start. Streams read the batches of r.Streams from their files; all others are made, when they are needed, from those and
// from what inputs give for older times. An input that is an InputRecorder is asked for the times up to
// r.Last that are in r.Times, and is absent in others; any other input is asked for any time. A batch that needs what is
// forgotten fails with ErrForgotten.
//
// Cost: the manifests of the checkpoints are read; their rows when a job needs them.
// Errors: as Start. A *ChangedError for a stream that the graph does not have, or has with another operator. Else, naming
// the stream and the batch, why a checkpoint cannot be used: a file is missing (fs.ErrNotExist) or damaged
// (codec.ErrCorrupt), or keys lie elsewhere (rdd.ErrPartitioner). The graph is of no use then.
func (g *Graph) Recover(r Recovery) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.start(r.Zero); err != nil {
		return err
	}
	for _, gap := range r.Gaps {
		g.skip(gap)
	}
	g.begun = &begun{last: r.Last, times: slices.Sorted(slices.Values(r.Times)), whole: r.Whole}
	for _, s := range r.Streams {
		if err := g.restore(s, r.Last); err != nil {
			g.started, g.begun, g.gaps = false, nil, nil
			return err
		}
	}
	return nil
}

// restore gives a stream its batches that are in files.
func (g *Graph) restore(s StreamCheckpoint, last Time) error {
	if s.Stream < 1 || int(s.Stream) > len(g.nodes) {
		return &ChangedError{Node: s.Stream, Was: s.Op}
	}
	n := g.nodes[s.Stream-1]
	renamed := n.input != nil && n.uid != "" // whoever recovers has compared the UIDs
	if n.op != s.Op && !renamed || n.restore == nil {
		return &ChangedError{Node: s.Stream, Was: s.Op, Is: n.op}
	}
	for _, f := range byTime(s.Files) {
		if f.Time > last {
			continue
		}
		err := fmt.Errorf("%w: it has no batch then", ErrArgument)
		if n.valid(f.Time) {
			err = n.restore(f)
		}
		if err != nil {
			return fmt.Errorf("%s: restore %s[%d] of batch %s: %w", n.site, n.op, n.id, f.Time, err)
		}
	}
	return nil
}

// restored returns what an earlier process has written of a stream, kept as the stream's RDDs are.
func restored[T any](n *node, c *rdd.Context, f CheckpointFile) (*rdd.RDD[T], error) {
	r := rdd.RestoreCheckpoint[T](c, n.graph.folder(f), f.Digest, n.placed)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if n.level != nil {
		return r, r.Persist(*n.level)
	}
	return r, nil
}
