package scheduler

import (
	"math"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A registry knows where map outputs and persisted partitions are.
type registry struct {
	// epoch is bumped whenever outputs are unregistered and whenever a map stage finishes.
	epoch int64
	// losses counts how often outputs or persisted partitions went, lost or dropped. Until it changes, no stage needs more than it did.
	losses int64
	// mu guards scopes and what is in them where others than the loop look at it; only the loop changes
	// it, and reads it without the lock.
	mu     sync.RWMutex
	scopes map[lineage.Scope]*known
	cached int // nodes of which something is persisted
	// rolledBack is set once outputs have been dropped because the rows may be others when they are written again.
	rolledBack bool
	// failed has the epoch at which an executor was found to have lost its outputs. A report about a
	// task launched at or before that epoch is bogus: what it wrote is gone.
	failed map[ExecutorID]int64
}

// A known is what is known of the nodes of one scope, so that forgetting a batch costs what the batch
// left behind.
type known struct {
	shuffles map[lineage.ShuffleID]*mapOutputs
	cached   map[lineage.NodeID]map[int][]ExecutorID
	since    map[lineage.NodeID]int64 // by node in cached: the oldest epoch of tasks that stored of it
}

func newRegistry() *registry {
	return &registry{scopes: map[lineage.Scope]*known{}, failed: map[ExecutorID]int64{}}
}

// of returns what is known of a scope; nothing can be put into what it returns for an unknown one.
func (r *registry) of(scope lineage.Scope) *known {
	if k := r.scopes[scope]; k != nil {
		return k
	}
	return &known{}
}

// open returns what is known of a scope, to put more into.
func (r *registry) open(scope lineage.Scope) *known {
	k := r.scopes[scope]
	if k == nil {
		k = &known{shuffles: map[lineage.ShuffleID]*mapOutputs{}, cached: map[lineage.NodeID]map[int][]ExecutorID{},
			since: map[lineage.NodeID]int64{}}
		r.scopes[scope] = k
	}
	return k
}

// close forgets a scope of which nothing is known any more.
func (r *registry) close(scope lineage.Scope) {
	if k := r.of(scope); len(k.shuffles) == 0 && len(k.cached) == 0 {
		delete(r.scopes, scope)
	}
}

// shuffle returns the outputs of a shuffle, nil if none are registered.
func (r *registry) shuffle(id lineage.ShuffleID) *mapOutputs { return r.of(id.Node.Scope).shuffles[id] }

// holders returns the executors that hold a persisted partition.
func (r *registry) holders(id BlockID) []ExecutorID {
	return r.of(id.Node.Scope).cached[id.Node][id.Part]
}

// keptSince returns the epoch of the oldest task that stored a persisted partition of a node, and whether any is
// known.
func (r *registry) keptSince(id lineage.NodeID) (epoch int64, some bool) {
	epoch, some = r.of(id.Scope).since[id]
	return epoch, some
}

// anyCached reports whether something is persisted of a node.
func (r *registry) anyCached(id lineage.NodeID) bool { return r.of(id.Scope).cached[id] != nil }

// mapOutputs are the outputs of one shuffle.
type mapOutputs struct {
	maps   []MapOutput
	epochs []int64 // of the tasks that wrote them
	have   int
	shared bool // whether a task has been given maps, which must not be changed then
	// written is set once an output has been registered since the last drop, also if it is gone.
	written bool
	// dropped is the epoch that began when all outputs were last dropped, to be written anew.
	dropped int64
}

func (o *mapOutputs) complete() bool     { return o.have == len(o.maps) }
func (o *mapOutputs) has(part int) bool  { return o.maps[part].Executor != "" }
func (o *mapOutputs) share() []MapOutput { o.shared = true; return o.maps }
func (o *mapOutputs) own() {
	if o.shared {
		o.maps, o.shared = slices.Clone(o.maps), false
	}
}

// oldest returns the lowest epoch of the tasks that wrote outputs.
func (o *mapOutputs) oldest() int64 {
	lowest := int64(math.MaxInt64)
	for part, epoch := range o.epochs {
		if o.has(part) {
			lowest = min(lowest, epoch)
		}
	}
	return lowest
}

// register notes an output, unless there is one.
func (o *mapOutputs) register(part int, out MapOutput, epoch int64) {
	if !o.has(part) {
		o.own()
		o.maps[part], o.epochs[part] = out, epoch
		o.have++
		o.written = true
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
	o := r.shuffle(id)
	if o == nil || len(o.maps) != maps {
		o = &mapOutputs{maps: make([]MapOutput, maps), epochs: make([]int64, maps)}
		r.mu.Lock()
		r.open(id.Node.Scope).shuffles[id] = o
		r.mu.Unlock()
	}
	return o
}

// dropOutputs forgets all outputs of a shuffle: they are to be written anew.
func (r *registry) dropOutputs(o *mapOutputs) {
	if o.have > 0 {
		o.own()
		clear(o.maps)
		o.have = 0
	}
	r.epoch++
	r.losses++
	o.dropped, o.written = r.epoch, false
	r.rolledBack = true
}

// unused forgets a shuffle that has no outputs: its scope may have been forgotten long ago, and only
// its lineage been looked at since.
func (r *registry) unused(id lineage.ShuffleID) {
	if o := r.shuffle(id); o != nil && o.have == 0 {
		r.mu.Lock()
		delete(r.of(id.Node.Scope).shuffles, id)
		r.close(id.Node.Scope)
		r.mu.Unlock()
	}
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
	for _, k := range r.scopes {
		for _, o := range k.shuffles {
			for part := range o.maps {
				o.lose(part, executor, epoch)
			}
		}
	}
	r.epoch++
	r.losses++
}

// keep notes that executor holds a persisted partition, which a task launched at epoch has stored or found, and reports whether
// that was not known.
func (r *registry) keep(id BlockID, executor ExecutorID, epoch int64) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.open(id.Node.Scope)
	parts := in.cached[id.Node]
	if parts == nil {
		parts = map[int][]ExecutorID{}
		in.cached[id.Node] = parts
		in.since[id.Node] = epoch
		r.cached++
	}
	in.since[id.Node] = min(in.since[id.Node], epoch)
	if slices.Contains(parts[id.Part], executor) {
		return false
	}
	// Tasks may be reading the old slice, so it is replaced.
	parts[id.Part] = append(slices.Clip(parts[id.Part]), executor)
	return true
}

// unkeep forgets that executor holds a persisted partition.
func (r *registry) unkeep(id BlockID, executor ExecutorID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.of(id.Node.Scope)
	parts := in.cached[id.Node]
	i := slices.Index(parts[id.Part], executor)
	if i < 0 {
		return
	}
	r.losses++
	if holders := slices.Delete(slices.Clone(parts[id.Part]), i, i+1); len(holders) > 0 {
		parts[id.Part] = holders
		return
	}
	delete(parts, id.Part)
	if len(parts) == 0 {
		delete(in.cached, id.Node)
		delete(in.since, id.Node)
		r.cached--
		r.close(id.Node.Scope)
	}
}

// loseCached forgets the persisted partitions of an executor.
func (r *registry) loseCached(executor ExecutorID) {
	for _, k := range r.scopes {
		for node, parts := range k.cached {
			for part := range parts {
				r.unkeep(BlockID{node, part}, executor)
			}
		}
	}
}

// kept reports whether every partition of a node is held by some executor. It may be called from any
// goroutine.
func (r *registry) kept(n lineage.Node) bool {
	id := n.ID()
	r.mu.RLock()
	held := len(r.of(id.Scope).cached[id])
	r.mu.RUnlock()
	if held == 0 {
		return false
	}
	count, err := n.NumPartitions()
	return err == nil && held == count
}

// drop forgets what d covers.
func (r *registry) drop(d lineage.Drop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losses++
	for _, scope := range d.Scopes {
		r.cached -= len(r.of(scope).cached)
		delete(r.scopes, scope)
	}
	for _, node := range d.Nodes {
		if in := r.of(node.Scope); in.cached[node] != nil {
			delete(in.cached, node)
			delete(in.since, node)
			r.cached--
			r.close(node.Scope)
		}
	}
	for _, id := range d.Shuffles {
		delete(r.of(id.Node.Scope).shuffles, id)
		r.close(id.Node.Scope)
	}
}
