package dstream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leat-io/leat/rdd"
)

// A Graph holds the streams and outputs of one streaming context. The context declares inputs on
// it, starts it, asks it once a batch for the batch's jobs, and tells it what may be forgotten.
//
// Declaring, Generate and Forget may be called from any goroutine, one at a time is done. The functions of
// Transform run inside Generate.
type Graph struct {
	interval millis
	rdds     *rdd.Context

	// generating is held while RDDs are made, so that each is made once; taken before mu.
	generating sync.Mutex

	mu       sync.Mutex // guards all below and the memos of the streams; given up while functions of Transform run
	nodes    []*node
	outputs  []*Output
	errs     []error
	sealed   error  // why nothing can be declared any more; nil while it can
	started  bool   // zero is set
	zero     Time   // the time before the first batch
	remember millis // least retention of every stream; 0: none asked for
	infos    map[Time][]InputInfo
	keep     bool // what executors hold of forgotten batches stays
	orphan   bool // belongs to no context; see orphans

	keepFiles bool   // files of checkpoints of forgotten batches stay
	gaps      []Gap  // batch times that were left out, ascending
	fullFiles bool   // checkpoints of state are written whole
	begun     *begun // what an earlier process has begun; nil where there was none
}

// NewGraph returns an empty graph whose batches come every interval.
//
// Errors: ErrBadDuration for an interval that is not a positive whole number of milliseconds.
func NewGraph(rdds *rdd.Context, interval time.Duration) (*Graph, error) {
	ms, err := toMillis(interval)
	if err != nil {
		return nil, err
	}
	return &Graph{interval: ms, rdds: rdds, infos: map[Time][]InputInfo{}}, nil
}

// Interval returns the batch interval.
func (g *Graph) Interval() time.Duration { return time.Duration(g.interval) * time.Millisecond }

// RDDs returns the context that the batches' RDDs are made in.
func (g *Graph) RDDs() *rdd.Context { return g.rdds }

// Remember makes every stream keep its RDDs for at least d.
//
// Errors: ErrRememberAlreadySet, ErrBadDuration, and why the graph is sealed.
func (g *Graph) Remember(d time.Duration) error {
	ms, err := toMillis(d)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil:
		return err
	case g.sealed != nil:
		return g.sealed
	case g.remember != 0:
		return ErrRememberAlreadySet
	}
	g.remember = ms
	return nil
}

// KeepPersisted says whether what persisted streams have left on executors stays when their batches are forgotten.
// It is dropped unless this is set before the graph is started.
func (g *Graph) KeepPersisted(keep bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep = keep
}

// Seal ends the time of declarations: from now on they fail with why.
func (g *Graph) Seal(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sealed = why
}

// Zero returns the time before the first batch, and whether the graph has been started.
func (g *Graph) Zero() (Time, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.zero, g.started
}

// Inputs returns the input streams in the order declared.
func (g *Graph) Inputs() []InputStream {
	g.mu.Lock()
	defer g.mu.Unlock()
	var in []InputStream
	for _, n := range g.nodes {
		if n.input != nil {
			in = append(in, *n.input)
		}
	}
	return in
}

// Err returns what is known to be wrong with the declarations, joined; nil if nothing.
func (g *Graph) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.errs...)
}

// Fingerprint returns 16 hex digits that two graphs share when they were declared by the same
// calls: what Nodes says of all streams and outputs. Call sites and closures do not enter.
func (g *Graph) Fingerprint() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := sha256.New()
	var buf []byte
	buf = binary.AppendVarint(buf, g.interval)
	for _, n := range g.nodes {
		buf = binary.AppendUvarint(buf, uint64(len(n.op)))
		buf = append(buf, n.op...)
		said := n.describe()
		buf = binary.AppendUvarint(buf, uint64(len(said)))
		buf = append(buf, said...)
		if n.name != "" || n.uid != "" { // graphs without names have the fingerprints that they had
			buf = fmt.Appendf(buf, "%q %q", n.name, n.uid)
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// declare adds a node to the graph and returns it with the errors found so far, which are kept for
// Start. A node that is refused because the graph is sealed is not added.
func (g *Graph) declare(n *node, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.graph = g
	if n.site == "" {
		n.site = rdd.CallSite()
	}
	if g.sealed != nil {
		n.err = &BuildError{Op: n.op, Site: n.site, Err: g.sealed}
		return
	}
	for _, p := range n.parents {
		if n.err == nil {
			n.err = p.err // said once, where it arose
		}
		if p.graph.orphan && !g.orphan && !slices.Contains(g.errs, p.err) {
			g.errs = append(g.errs, p.err) // nobody starts the graph where it arose
		}
	}
	if err != nil && n.err == nil {
		n.err = &BuildError{Op: n.op, Site: n.site, Err: err}
		g.errs = append(g.errs, n.err)
	}
	n.id = int32(len(g.nodes) + 1)
	g.nodes = append(g.nodes, n)
}
