package local

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// A peers lets the executors of a cluster read each other's blocks.
type peers struct{ cluster *Cluster }

var _ executor.Peers = peers{}

func (p peers) Bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce, first int, yield func(executor.Held) error) error {
	n, err := p.cluster.node(from)
	if err != nil {
		return err
	}
	return n.Bucket(id, mapPart, reduce, first, yield)
}

func (p peers) Persisted(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID, yield func(executor.Held) error) error {
	n, err := p.cluster.node(from)
	if err != nil {
		return err
	}
	return n.Persisted(id, yield)
}

// maxReplicaFailures is how many executors may refuse a copy before no others are asked.
const maxReplicaFailures = 2

// Replicate asks the other executors in turn, beginning at one that the partition's name says.
func (p peers) Replicate(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID, pers lineage.Persistence, copies int, blocks func(yield func(executor.Held) error) error) (holders []scheduler.ExecutorID) {
	others := slices.DeleteFunc(p.cluster.Executors(), func(x scheduler.ExecutorID) bool { return x == from })
	if len(others) == 0 {
		return nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id.Node.String()))
	begin := (int(h.Sum32()%1024) + id.Part) % len(others)
	failures := 0
	for i := range others {
		if len(holders) == copies || failures == maxReplicaFailures || ctx.Err() != nil {
			break
		}
		to := others[(begin+i)%len(others)]
		n, err := p.cluster.node(to)
		if err == nil {
			err = n.Store(id, pers, blocks)
		}
		if err != nil {
			failures++
			continue
		}
		holders = append(holders, to)
	}
	if len(holders) < copies {
		p.cluster.opts.Logger.Warn("partition has fewer copies than asked for", "node", id.Node.String(),
			"partition", id.Part, "executor", string(from), "copies", 1+len(holders))
	}
	return holders
}
