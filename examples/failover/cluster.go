package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// patience bounds every wait for the nodes.
const patience = time.Minute

// A cluster is the nodes of the demonstration, and the text that they count.
type cluster struct {
	settings
	program string
	rng     *rand.Rand // of the moments at which nodes are hurt
	board   *board
	text    *text
	nodes   []*node
	dialer  *link.Dialer
	admin   admin.Client
}

// A node is one driver process.
type node struct {
	number  int
	address string
	via     []*proctest.Proxy // to the others by their number, where networks are to be cut; nil for itself
	proc    *proctest.Process
}

// startCluster starts the nodes: the first makes a cluster, the others join it.
func startCluster(ctx context.Context, s settings) (c *cluster, err error) {
	c = &cluster{settings: s, board: newBoard(), rng: rand.New(rand.NewPCG(uint64(s.seed), 1))}
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
	if c.dialer, err = link.NewDialer(link.Options{Name: "operator"}); err != nil {
		return c, err
	}
	c.admin.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		return c.dialer.DialContext(ctx, link.Admin, address)
	}
	for i := range s.nodes {
		address, err := freeAddress()
		if err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, &node{number: i, address: address})
	}
	if s.mode == "partition" {
		if err := c.stretch(); err != nil {
			return c, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, n := range c.nodes {
		if err := c.start(n); err != nil {
			return c, err
		}
		if n.number == 0 {
			if err := c.board.await(ctx, "the first node to lead", func() bool { return c.board.epoch > 0 }); err != nil {
				return c, err
			}
			continue
		}
		if err := c.join(ctx, n); err != nil {
			return c, err
		}
	}
	return c, nil
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// stretch puts a proxy between every two nodes.
func (c *cluster) stretch() error {
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

// start starts a node, also one that was killed.
func (c *cluster) start(n *node) (err error) {
	var via []string
	for to, p := range n.via {
		if p != nil {
			via = append(via, c.nodes[to].address+"="+p.Addr())
		}
	}
	args := []string{"node", "-number", strconv.Itoa(n.number), "-dir", c.dir, "-listen", n.address,
		"-batch", c.batch.String(), "-via", strings.Join(via, ",")}
	errors := io.Discard
	if c.verbose {
		errors = os.Stderr
	}
	n.proc, err = proctest.Start(proctest.Options{Path: c.program, Args: args, Err: errors,
		Line: func(at time.Time, line string) { c.board.line(n.number, at, line) }})
	return err
}

// join makes a node a member. It is asked who it is, and whoever leads is asked to take it in.
func (c *cluster) join(ctx context.Context, n *node) error {
	var status admin.Status
	for {
		var err error
		if status, err = c.admin.Status(ctx, n.address); err == nil {
			break
		}
		select {
		case <-n.proc.Ended():
			return fmt.Errorf("node %d ended: %w", n.number, n.proc.Wait(ctx))
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
	return c.admin.Join(ctx, c.nodes[0].address, admin.Member{ID: status.ID, Address: n.address})
}

// close ends everything.
func (c *cluster) close() error {
	var errs []error
	for _, n := range c.nodes {
		if n.proc != nil {
			n.proc.Kill()
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
	return errors.Join(errs...)
}

// calibrate returns half the lines a second that a node counts when it has more than enough.
func (c *cluster) calibrate(ctx context.Context) (int, error) {
	const files, lines = 8, 20_000
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.text.write(lines); err != nil { // whatever is slow the first time
		return 0, err
	}
	if err := c.caughtUp(ctx); err != nil {
		return 0, err
	}
	for range files {
		if err := c.text.write(lines); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	if err := c.caughtUp(ctx); err != nil {
		return 0, err
	}
	busy := max(time.Since(begin)-c.batch/2, c.batch) // half a batch passes before the first is made
	return int(files*lines/busy.Seconds()) / 2, nil
}

// caughtUp waits until the sink shows every word of the text.
func (c *cluster) caughtUp(ctx context.Context) error {
	for {
		c.board.mu.Lock()
		changed := c.board.changed
		c.board.mu.Unlock()
		words, err := counted(filepath.Join(c.dir, "out"))
		if err != nil {
			return err
		}
		if words >= c.text.words {
			return nil
		}
		select {
		case <-changed: // a batch was committed
		case <-ctx.Done():
			return fmt.Errorf("%d of %d words are counted: %w", words, c.text.words, ctx.Err())
		}
	}
}
