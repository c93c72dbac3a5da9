package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// leave writes what the nodes' logs hold, and the last that each has said, for whoever looks for the reason.
func (c *group) leave(stdout io.Writer) {
	const last = 20 // lines of a node
	for _, n := range c.nodes {
		if n.proc == nil {
			continue
		}
		if said, err := os.ReadFile(filepath.Join(c.dir, nameOf(n.number)+".log")); err == nil {
			lines := strings.SplitAfter(string(said), "\n")
			fmt.Fprintf(stdout, "node %d has said last:\n%s", n.number, strings.Join(lines[max(len(lines)-1-last, 0):], ""))
		}
		if err := c.dump(n); err != nil {
			fmt.Fprintf(stdout, "log of node %d: %v\n", n.number, err)
		}
	}
	fmt.Fprintf(stdout, "seed %d; what each node said and its decisions are in %s\n", c.seed, c.dir)
}

// dump writes a line for each decision in a node's log.
func (c *group) dump(n *node) (err error) {
	file, err := os.Create(filepath.Join(c.dir, nameOf(n.number)+".decisions"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := raftlog.Dump(c.raftFolder(n), func(e raftlog.Entry) error {
		for _, cmd := range e.Commands {
			fmt.Fprintf(file, "%d\tterm %d\t%s\tepoch %d\tbatch %d\ttime %d\n", e.Index, e.Term, cmd.Kind, cmd.Epoch, cmd.Batch, cmd.Time)
		}
		return nil
	})
	fmt.Fprintf(file, "snapshot %d, entries %d to %d, index %d, epoch %d\n", info.Snapshot, info.First, info.Last, info.State.Index, info.State.Epoch)
	return err
}
