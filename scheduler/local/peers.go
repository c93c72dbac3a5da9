package local

import (
	"context"
	"errors"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// A peers lets the executors of a cluster read each other's blocks.
type peers struct{ cluster *Cluster }

var errNotHeld = errors.New("the executor does not hold it")

func (p peers) Bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce int) ([]executor.Held, error) {
	n, err := p.cluster.node(from)
	if err != nil {
		return nil, err
	}
	held, ok := n.Bucket(id, mapPart, reduce)
	if !ok {
		return nil, errNotHeld
	}
	return held, nil
}

func (p peers) Persisted(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID) ([]executor.Held, error) {
	n, err := p.cluster.node(from)
	if err != nil {
		return nil, err
	}
	held, ok := n.Persisted(id)
	if !ok {
		return nil, errNotHeld
	}
	return held, nil
}
