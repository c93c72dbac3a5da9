package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest/netns"
)

// patience bounds every wait for the nodes.
const patience = time.Minute

// A group is the nodes of the demonstration, and the text that they count.
type group struct {
	settings
	program string
	rng     *rand.Rand // of the moments at which nodes are hurt
	board   *board
	text    *text
	nodes   []*node
	started []*proctest.Process
	ca      *linktest.CA // nil without -tls
	dialer  *link.Dialer
	lab     *netns.Lab // nil without -netns
	admin   admin.Client
	stdout  io.Writer
	pasts   map[uint64]past // what recoveries have cut off, by the last entry

	order   []string // of what is done next, where the mode is mixed
	rolled  *rolled  // the upgrade that is under way; nil: none
	counted int64    // words that the sink has been seen to show, in batches before next
	next    int64

	live   *checker // of a lasting run, which is checked while it goes on
	spared *node    // whose process lives on; nil for a while
}

// A node is one driver process.
type node struct {
	number  int
	address string
	id      string // "" before it is known
	member  bool
	via     []*proctest.Proxy // to the others by their number, where networks are to be cut; nil for itself
	heal    func() error      // with -netns, what ends the cut
	disk    *faultdisk.Disk   // nil where disks do not go bad
	proc    *proctest.Process
	build   int       // of the program
	errs    io.Writer // takes what it prints as errors, where not nil
}

// What a node does.
const (
	drives   = "drive"  // it runs the application
	finishes = "finish" // it stops the application when it leads
	leads    = "lead"   // it says when it leads
	follows  = "follow" // it keeps the log
)

// startCluster starts the nodes with the application: the first makes a cluster, the others join it. Where it is to grow, only the first. What is
// returned is to be closed, also with an error, unless it is nil.
func startCluster(ctx context.Context, s settings) (*group, error) {
	c, err := prepareCluster(s)
	if err != nil {
		return nil, err
	}
	nodes := c.nodes[:s.nodes]
	if s.grow {
		nodes = nodes[:1]
	}
	return c, c.found(ctx, nodes, drives)
}

// prepareCluster returns a cluster none of whose nodes was started.
func prepareCluster(s settings) (c *group, err error) {
	c = &group{settings: s, board: newBoard(), stdout: io.Discard, pasts: map[uint64]past{}, rng: rand.New(rand.NewPCG(uint64(s.seed), 1))}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.program, err = os.Executable(); err != nil {
		return c, err
	}
	if c.text, err = newText(s.dir, s.seed); err != nil {
		return c, err
	}
	if err := c.secure(); err != nil {
		return c, err
	}
	all := s.nodes
	if s.lasting > 0 {
		all += spares
	}
	if s.netns {
		if c.lab, err = netns.New(all); err != nil {
			return c, err
		}
	}
	for i := range all {
		address, err := c.address(i)
		if err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, &node{number: i, address: address, build: firstBuild})
	}
	if err := c.mountDisks(); err != nil {
		return c, err
	}
	if c.lab == nil && (s.mode == "partition" || s.mode == mixed) {
		return c, c.stretch()
	}
	return c, nil
}

// found makes a cluster of nodes.
func (c *group) found(ctx context.Context, nodes []*node, do string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, n := range nodes {
		if err := c.join(ctx, n, do); err != nil {
			return err
		}
		if n.number == 0 {
			if err := c.board.await(ctx, "the first node to lead", func() bool { return c.board.epoch > 0 }); err != nil {
				return err
			}
		}
	}
	return nil
}

// members returns the nodes that are members.
func (c *group) members() (members []*node) {
	for _, n := range c.nodes {
		if n.member {
			members = append(members, n)
		}
	}
	return members
}

// folder returns where a node keeps its log, and raftFolder where in it.
func (c *group) folder(n *node) string {
	if n.disk != nil {
		return realFolder(c.dir, n)
	}
	return filepath.Join(c.dir, nameOf(n.number))
}

func (c *group) raftFolder(n *node) string { return filepath.Join(c.folder(n), "raft") }

func nameOf(number int) string { return "node-" + strconv.Itoa(number) }

// address returns where a node listens.
func (c *group) address(number int) (string, error) {
	if c.lab != nil {
		return net.JoinHostPort(c.lab.Address(number), "7000"), nil
	}
	return proctest.FreeAddress()
}

// stretch puts a proxy between every two nodes.
func (c *group) stretch() error {
	for _, from := range c.nodes {
		from.via = make([]*proctest.Proxy, len(c.nodes))
		for _, to := range c.nodes {
			if from == to {
				continue
			}
			p, err := proctest.StartProxy(to.address)
			if err != nil {
				return err
			}
			from.via[to.number] = p
		}
	}
	return nil
}

// close ends everything.
func (c *group) close() error {
	var errs []error
	for _, n := range c.nodes {
		if n.disk != nil {
			n.disk.Set(faultdisk.Fault{}) // a process cannot be ended while it waits for its disk
		}
		if n.proc != nil {
			n.proc.Kill()
		}
		if n.disk != nil {
			errs = append(errs, n.disk.Close())
		}
		for _, p := range n.via {
			if p != nil {
				errs = append(errs, p.Close())
			}
		}
	}
	if c.dialer != nil {
		errs = append(errs, c.dialer.Close())
	}
	if c.lab != nil {
		errs = append(errs, c.lab.Close())
	}
	return errors.Join(errs...)
}
