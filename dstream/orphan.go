package dstream

import (
	"context"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// orphans returns a graph for a stream that was declared from no streams, so that there is no context it
// could belong to. It is never started; a graph that a stream of it is combined with reports its
// mistake, and Err does.
func orphans() *Graph {
	c, err := rdd.NewContext(refusing{}, rdd.Options{})
	if err != nil {
		return nil // it is refused for bad options only, and these are none
	}
	return &Graph{interval: 1, rdds: c, orphan: true}
}

// home returns the graph that streams are combined on.
func home(nodes ...*node) *Graph {
	for _, n := range nodes {
		if !n.graph.orphan {
			return n.graph
		}
	}
	return nodes[0].graph
}

// refusing is a runner that runs nothing.
type refusing struct{}

func (refusing) Run(context.Context, lineage.Job) error { return ErrNotInitialized }
func (refusing) Drop(lineage.Drop)                      {}
