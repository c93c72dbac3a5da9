package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext"
)

// ErrDriven is returned by a second call of Drive.
var ErrDriven = errors.New("the node drives an application already")

// Drive runs an application as one driver of the cluster, until ctx ends, see streamingcontext.Drive. Meanwhile the node answers other drivers
// and `leat cluster`; it does so until it has handed over.
//
// Cluster, Log, Blocks and Listeners that concern the node are its own: opts must leave Cluster, Log and Blocks zero.
//
// Errors: ErrDriven; those of streamingcontext.Drive; what ended the connections to others; *raftlog.PoisonError and whatever else stopped the node,
// which is closed and opened again to go on.
func (n *Node) Drive(ctx context.Context, opts streamingcontext.Options, setup func(ssc *streamingcontext.Context) error) error {
	if opts.Cluster != nil || opts.Log != nil || opts.Blocks != nil {
		return errors.New("drive: Cluster, Log and Blocks are the node's")
	}
	if !n.state.begin(&opts) {
		return ErrDriven
	}
	defer n.state.end()
	opts.Cluster = timed{n.log, &n.told}
	defer n.follow(&opts)()
	if n.copies != nil {
		opts.Blocks = n.copies
	}
	return n.Serve(ctx, func(ctx context.Context) error {
		if n.opts.Resume {
			if err := n.resume(ctx, opts.App, n.log.Status().Last); ctx.Err() != nil {
				return nil
			} else if err != nil {
				return fmt.Errorf("resume application %s: %w", opts.App, err)
			}
		}
		err := streamingcontext.Drive(ctx, n.dir, opts, setup)
		if err == nil && ctx.Err() == nil {
			n.linger(ctx)
		}
		return err
	})
}

// linger stays a while after the application was stopped. One that stands by and has not heard of it yet hears it from this node, or needs
// it for a majority: alone it would wait for ever.
func (n *Node) linger(ctx context.Context) {
	if n.links == nil {
		return
	}
	heartbeat := n.opts.Timeouts.Heartbeat
	if heartbeat == 0 {
		heartbeat = raftlog.Default().Heartbeat
	}
	timer := time.NewTimer(4 * heartbeat)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Serve calls run, which may be anything that a process without an application does, and answers other drivers, `leat cluster` and Options.HTTP
// until it has returned. Drive does so. A node serves once.
//
// Errors: run's; what ended the connections to others, or stopped the node, as a disk that takes no writes does. Both end run's context. ErrLeftBehind
// with it where the disk does not answer what is being served.
func (n *Node) Serve(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Not ctx: whoever is to lead next must reach this node until it has handed over.
	serves, hush := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	var mu sync.Mutex
	var failed error
	serve := func(what string, f func(ctx context.Context) error) {
		work.Go(func() {
			if err := f(serves); err != nil && serves.Err() == nil { // of several that end at once, one may see another's end first
				mu.Lock()
				failed = errors.Join(failed, fmt.Errorf("%s: %w", what, err))
				mu.Unlock()
				stop()
			}
		})
	}
	serve("replicated log", func(ctx context.Context) error {
		select {
		case <-n.log.Failed():
			return n.log.Status().Poisoned
		case <-ctx.Done():
			return nil
		}
	})
	if n.pages != nil {
		serve("health and metrics", n.pages.run)
	}
	if n.links != nil {
		requests := &admin.Server{Node: n.asked(), Logger: n.opts.Logger}
		serve("connections", n.links.Run)
		serve("requests", func(ctx context.Context) error { return requests.Serve(ctx, n.links.Protocol(link.Admin)) })
		serve("copies of blocks", n.copies.Run)
	}
	err := run(ctx)
	hush()
	left := n.ended("serve", work.Wait)
	mu.Lock()
	defer mu.Unlock()
	return errors.Join(err, failed, left)
}
