package scheduler

import (
	"slices"

	"github.com/leat-io/leat/lineage"
)

// A registry knows where map outputs and persisted partitions are.
type registry struct {
	// epoch is bumped whenever outputs are unregistered and whenever a map stage finishes.
	epoch    int64
	shuffles map[lineage.ShuffleID]*mapOutputs
	cached   map[lineage.NodeID]map[int][]ExecutorID
	// failed has the epoch at which an executor was found to have lost its outputs. A report about a
	// task launched at or before that epoch is bogus: what it wrote is gone.
	failed map[ExecutorID]int64
}

func newRegistry() *registry {
	return &registry{
		shuffles: map[lineage.ShuffleID]*mapOutputs{},
		cached:   map[lineage.NodeID]map[int][]ExecutorID{},
		failed:   map[ExecutorID]int64{},
	}
}

// mapOutputs are the outputs of one shuffle.
type mapOutputs struct {
	maps   []MapOutput
	epochs []int64 // of the tasks that wrote them
	have   int
	shared bool // whether a task has been given maps, which must not be changed then
}

func (o *mapOutputs) complete() bool     { return o.have == len(o.maps) }
func (o *mapOutputs) has(part int) bool  { return o.maps[part].Executor != "" }
func (o *mapOutputs) share() []MapOutput { o.shared = true; return o.maps }
func (o *mapOutputs) own() {
	if o.shared {
		o.maps, o.shared = slices.Clone(o.maps), false
	}
}

// register notes an output, unless there is one.
func (o *mapOutputs) register(part int, out MapOutput, epoch int64) {
	if !o.has(part) {
		o.own()
		o.maps[part], o.epochs[part] = out, epoch
		o.have++
	}
}

// lose forgets an output if it is on executor and was written at or before epoch.
func (o *mapOutputs) lose(part int, executor ExecutorID, epoch int64) bool {
	if o.maps[part].Executor != executor || executor == "" || o.epochs[part] > epoch {
		return false
	}
	o.own()
	o.maps[part] = MapOutput{}
	o.have--
	return true
}

// outputs returns the outputs of a shuffle, none registered if it is new.
func (r *registry) outputs(id lineage.ShuffleID, maps int) *mapOutputs {
	o := r.shuffles[id]
	if o == nil || len(o.maps) != maps {
		o = &mapOutputs{maps: make([]MapOutput, maps), epochs: make([]int64, maps)}
		r.shuffles[id] = o
	}
	return o
}

// bogus reports whether what a task launched at epoch left on executor is known to be gone.
func (r *registry) bogus(executor ExecutorID, epoch int64) bool {
	at, ok := r.failed[executor]
	return ok && epoch <= at
}

// loseOutputs forgets the outputs that executor wrote at or before epoch, of all shuffles, unless
// that is known already.
func (r *registry) loseOutputs(executor ExecutorID, epoch int64) {
	if r.bogus(executor, epoch) {
		return
	}
	r.failed[executor] = epoch
	for _, o := range r.shuffles {
		for part := range o.maps {
			o.lose(part, executor, epoch)
		}
	}
	r.epoch++
}

// keep notes that executor holds a persisted partition.
func (r *registry) keep(id BlockID, executor ExecutorID) {
	parts := r.cached[id.Node]
	if parts == nil {
		parts = map[int][]ExecutorID{}
		r.cached[id.Node] = parts
	}
	if !slices.Contains(parts[id.Part], executor) {
		// Tasks may be reading the old slice, so it is replaced.
		parts[id.Part] = append(slices.Clip(parts[id.Part]), executor)
	}
}

// unkeep forgets that executor holds a persisted partition.
func (r *registry) unkeep(id BlockID, executor ExecutorID) {
	parts := r.cached[id.Node]
	i := slices.Index(parts[id.Part], executor)
	if i < 0 {
		return
	}
	if holders := slices.Delete(slices.Clone(parts[id.Part]), i, i+1); len(holders) > 0 {
		parts[id.Part] = holders
		return
	}
	delete(parts, id.Part)
	if len(parts) == 0 {
		delete(r.cached, id.Node)
	}
}

// loseCached forgets the persisted partitions of an executor.
func (r *registry) loseCached(executor ExecutorID) {
	for node, parts := range r.cached {
		for part := range parts {
			r.unkeep(BlockID{node, part}, executor)
		}
	}
}

// kept reports whether every partition of a node is held by some executor.
func (r *registry) kept(n lineage.Node) bool {
	parts := r.cached[n.ID()]
	if parts == nil {
		return false
	}
	count, err := n.NumPartitions()
	return err == nil && len(parts) == count
}

// drop forgets what d covers.
func (r *registry) drop(d Drop) {
	for node := range r.cached {
		if d.Covers(node) {
			delete(r.cached, node)
		}
	}
	if len(d.Scopes) == 0 {
		return
	}
	for id := range r.shuffles {
		if d.CoversScope(id.Node.Scope) {
			delete(r.shuffles, id)
		}
	}
}
