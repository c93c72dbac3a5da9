package dstream

import (
	"path/filepath"
	"slices"

	"github.com/leat-io/leat/rdd"
)

// A StreamCheckpoint is which batches of a stream are in files.
type StreamCheckpoint struct {
	Stream int32  // the stream's number, from 1 in the order declared
	Op     string // its operator
	Files  []CheckpointFile
}

// A CheckpointFile is the folder that the RDD of a batch, or the state after it, has been written to.
type CheckpointFile struct {
	Time Time
	// Dir is the folder's name within the context's CheckpointDir, or its path where it is elsewhere.
	Dir string
	// Digest is that of the folder's manifest, empty unless the context has DurableCheckpoints.
	Digest string
	// Since are the folders that it builds on, the newest first, each named as Dir. They must stay as long as it.
	Since []rdd.Folder `json:",omitempty"`
}

// Folders returns the folder and those it builds on.
func (f CheckpointFile) Folders() []rdd.Folder {
	return append([]rdd.Folder{{Dir: f.Dir, Digest: f.Digest}}, f.Since...)
}

// KeepCheckpoints says whether the files of checkpoints stay when their batches are forgotten. They are removed, when a newer
// one of the stream has been forgotten too, unless this is set before the graph is started. Only then are checkpoints of state
// written as what changed since the one before, which they build on; whoever removes files looks at CheckpointFile.Folders.
func (g *Graph) KeepCheckpoints(keep bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keepFiles = keep
}

// FullCheckpoints says whether every checkpoint of state is written whole, with KeepCheckpoints as well. It is set before the
// graph is started.
func (g *Graph) FullCheckpoints(full bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fullFiles = full
}

// checkpoint marks an RDD of batch t of a stream that has those of the batches before: to be written as what changed since the newest
// of them in files, where its files stay.
func checkpoint[T any](n *node, t Time, r *rdd.RDD[T], before map[Time]*rdd.RDD[T]) error {
	if !n.graph.keepFiles || n.graph.fullFiles {
		return r.Checkpoint()
	}
	// The one that was due before is perhaps being written still.
	base := before[t-Time(n.checkpoint)]
	if base == nil {
		var newest Time
		for at, b := range before {
			if b != nil && at < t && at > newest && b.IsCheckpointed() {
				newest, base = at, b
			}
		}
	}
	return r.CheckpointSince(base)
}

// Checkpoint returns, for each stream that has some, the written checkpoints of the batches that it remembers, times
// ascending: what Recover goes on from. State is written by the first job that computes it, so that of a batch is among
// them once a job of the batch has ended.
func (g *Graph) Checkpoint() []StreamCheckpoint {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []StreamCheckpoint
	for _, n := range g.nodes {
		if n.written == nil {
			continue
		}
		if files := n.written(); len(files) > 0 {
			all = append(all, StreamCheckpoint{Stream: n.id, Op: n.op, Files: files})
		}
	}
	return all
}

// inFiles returns the written checkpoints of RDDs.
func inFiles[R interface{ CheckpointFolders() []rdd.Folder }](g *Graph, times []Time, at func(Time) R) []CheckpointFile {
	var files []CheckpointFile
	for _, t := range times {
		folders := at(t).CheckpointFolders()
		if len(folders) == 0 {
			continue
		}
		for i := range folders {
			if in, err := filepath.Rel(g.rdds.Options().CheckpointDir, folders[i].Dir); err == nil && filepath.IsLocal(in) {
				folders[i].Dir = in
			}
		}
		files = append(files, CheckpointFile{Time: t, Dir: folders[0].Dir, Digest: folders[0].Digest, Since: slices.Clip(folders[1:])})
	}
	return files
}

// folder returns the path of a checkpoint.
func (g *Graph) folder(f CheckpointFile) string {
	if filepath.IsAbs(f.Dir) {
		return f.Dir
	}
	return filepath.Join(g.rdds.Options().CheckpointDir, f.Dir)
}

// OldestInput returns the oldest batch time that inputs may be asked for by a recovery from these checkpoints whose first
// batch is next. Records of older batches are of no use to it. What the program's own functions ask for enters
// only as far as windows and state reach.
//
// Cost: one pass over the streams.
func (g *Graph) OldestInput(next Time, streams []StreamCheckpoint) Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	oldest := next
	asked := map[*node]Time{} // the oldest time that a stream is asked for
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		t, used := asked[n]
		if n.output {
			t, used = next, true
		}
		if !used {
			continue
		}
		oldest = min(oldest, t)
		if n.must { // each batch is made from the one before, from the newest in files on
			t = max(n.restored(t, streams), g.zero) + Time(n.slide)
		}
		for _, p := range n.parents {
			from := t
			if n.extra > 0 {
				from += Time(p.slide) - Time(n.extra) - Time(n.slide) // what leaves an inverse window, too
			}
			if known, ok := asked[p]; !ok || from < known {
				asked[p] = from
			}
		}
	}
	return oldest
}

// restored returns the newest time up to t that a stream has in files, zero time if none.
func (n *node) restored(t Time, streams []StreamCheckpoint) Time {
	newest := n.graph.zero
	for _, s := range streams {
		if s.Stream != n.id {
			continue
		}
		for _, f := range s.Files {
			if f.Time <= t {
				newest = max(newest, f.Time)
			}
		}
	}
	return newest
}

// byTime returns files in the order of their times.
func byTime(files []CheckpointFile) []CheckpointFile {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b CheckpointFile) int { return int(max(-1, min(1, int64(a.Time-b.Time)))) })
	return files
}
