package raftlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A cluster is some nodes on a fabric, by name. The first one makes the cluster.
type cluster struct {
	testing.TB
	fabric *fabric
	opts   raftlog.Options
	nodes  map[string]*raftlog.Log
	names  []string
	dirs   map[string]string
}

func newCluster(t testing.TB, n int, opts raftlog.Options) *cluster {
	t.Helper()
	c := &cluster{TB: t, fabric: newFabric(), opts: opts, nodes: map[string]*raftlog.Log{}, dirs: map[string]string{}}
	for range n {
		c.grow()
	}
	return c
}

// start opens the node called name.
func (c *cluster) start(name string) *raftlog.Log {
	c.Helper()
	if c.dirs[name] == "" {
		c.dirs[name] = c.TempDir()
		c.names = append(c.names, name)
	}
	opts := c.opts
	opts.Name, opts.Address, opts.Network = name, name, c.fabric.listen(name)
	opts.Bootstrap = name == "n1"
	c.nodes[name] = open(c, c.dirs[name], opts)
	return c.nodes[name]
}

// grow adds a node.
func (c *cluster) grow() *raftlog.Log {
	c.Helper()
	log := c.start(fmt.Sprintf("n%d", len(c.names)+1))
	if len(c.names) == 1 {
		c.leader()
		return log
	}
	for {
		err := c.leader().Join(c.ctx(), raftlog.Member{ID: log.ID(), Address: c.names[len(c.names)-1]})
		if err == nil {
			return log
		}
		if !errors.Is(err, driverlog.ErrUnknown) && !errors.Is(err, driverlog.ErrNotLeader) {
			c.Fatalf("Join: %v", err)
		}
		// Where a machine has no time for a leader its term ends. To join again is no harm.
	}
}

func (c *cluster) ctx() context.Context { return c.Context() }

// leader waits for a node that leads a term, and returns it.
func (c *cluster) leader() *raftlog.Log {
	c.Helper()
	log, _ := c.lead(c.names...)
	return log
}

// lead waits for one of the nodes called names to lead.
func (c *cluster) lead(names ...string) (*raftlog.Log, driverlog.Term) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx(), 5*time.Minute)
	defer cancel()
	type led struct {
		log  *raftlog.Log
		term driverlog.Term
	}
	found := make(chan led, len(names))
	waits := 0
	for _, name := range names {
		log := c.nodes[name]
		if log == nil {
			continue
		}
		waits++
		go func() {
			term, err := log.Lead(ctx)
			if err != nil {
				log = nil
			}
			found <- led{log, term}
		}()
	}
	var first led
	for range waits {
		if l := <-found; l.log != nil && first.log == nil {
			first = l
			cancel()
		}
	}
	if first.log == nil {
		c.Fatalf("none of %v leads", names)
	}
	return first.log, first.term
}

func (c *cluster) nameOf(log *raftlog.Log) string { return log.Status().Name }

// others returns the names of all nodes but one.
func (c *cluster) others(log *raftlog.Log) []string {
	var names []string
	for _, n := range c.names {
		if c.nodes[n] != nil && c.nodes[n] != log {
			names = append(names, n)
		}
	}
	return names
}

func (c *cluster) close() {
	c.Helper()
	for _, n := range c.names {
		if c.nodes[n] != nil {
			if err := c.nodes[n].Close(); err != nil {
				c.Errorf("Close of %s: %v", n, err)
			}
		}
	}
}

// settle waits until all nodes have applied the same commands, and compares their states.
func (c *cluster) settle() {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		var index []uint64
		same := true
		for _, n := range c.names {
			if c.nodes[n] != nil {
				index = append(index, c.nodes[n].Status().Applied)
				same = same && index[len(index)-1] == index[0]
			}
		}
		if same {
			break
		}
		if time.Now().After(deadline) {
			c.Fatalf("applied %v, want all the same", index)
		}
		<-time.After(10 * time.Millisecond)
	}
	var want [32]byte
	first := true
	for _, n := range c.names {
		if c.nodes[n] == nil {
			continue
		}
		state, err := c.nodes[n].State(c.ctx())
		if err != nil {
			c.Fatalf("State of %s: %v", n, err)
		}
		if got := state.Digest(); first {
			want, first = got, false
		} else if got != want {
			c.Errorf("the state of %s has digest %x, others have %x", n, got, want)
		}
	}
}

func begin(epoch uint64, id int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: "counts", Batch: id, Time: id}
}
