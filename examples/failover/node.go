package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

// application is its name in the log.
const application = "failover"

// runNode is one driver process, until ctx ends. It says on stdout what it does.
func runNode(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("failover node", flag.ContinueOnError)
	number := flags.Int("number", 0, "of the node")
	bootstrap := flags.Bool("bootstrap", false, "make a new cluster where there is none")
	do := flags.String("do", drives, "what it does")
	certificates := flags.String("certificates", "", "folder of ca.pem, cert.pem and key.pem; empty means none")
	delay := flags.Duration("commit-delay", 0, "how long an output waits in the middle of each commit, and says so")
	dir := flags.String("dir", "", "folder of all nodes")
	telling := flags.Duration("tell", 0, "how often it says what it has; 0 means not at all")
	trailing := flags.Uint64("trailing", 1<<32, "entries after which the log is written as a snapshot, and how many stay behind it; 1<<32 means that nothing is forgotten")
	remember := flags.Duration("remember", 24*time.Hour, "how long files of the text are remembered")
	listen := flags.String("listen", "", "address")
	via := flags.String("via", "", "addresses to dial for those of others, as other=dialled,...")
	stall := flags.Duration("stall", 0, "how long its disk may not answer; 0 means the default")
	batch := flags.Duration("batch", 0, "batch interval")
	build := flags.Int("build", firstBuild, "of the program")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", *number)
	var certified *link.TLS
	if d := *certificates; d != "" {
		certified = &link.TLS{CA: filepath.Join(d, "ca.pem"), Certificate: filepath.Join(d, "cert.pem"), Key: filepath.Join(d, "key.pem")}
	}

	node, err := cluster.Open(filepath.Join(*dir, nameOf(*number)), cluster.Options{Name: nameOf(*number), Build: fmt.Sprint("failover ", *build), Listen: *listen, TLS: certified,
		Bootstrap: *bootstrap, Timeouts: raftlog.Fast(), Network: detours(*via), Stall: *stall, Logger: logger,
		SnapshotEvery: min(*trailing, raftlog.DefaultSnapshotEvery), Trailing: *trailing})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	store, err := folder.Open(filepath.Join(*dir, "shared"), folder.Options{})
	if err != nil {
		return err
	}

	say := &sayer{w: stdout}
	if *telling > 0 {
		ctx, hush := context.WithCancel(ctx)
		var tells sync.WaitGroup
		tells.Go(func() { tell(ctx, *telling, node.Log(), say) })
		defer tells.Wait()
		defer hush()
	}
	switch *do {
	case leads:
		return node.Serve(ctx, func(ctx context.Context) error { return leadOnly(ctx, node.Log(), say) })
	case follows:
		return node.Serve(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
	}
	return node.Drive(ctx, streamingcontext.Options{
		App: application, Interval: *batch, Store: store, FileRemember: *remember, Missed: streamingcontext.MissedCoalesce, Logger: logger,
		Listeners: []streamingcontext.Listener{{BatchCommitted: func(b streamingcontext.CommittedBatch) {
			say.line("batch\t%d\t%d", b.ID, b.Epoch)
		}}},
		DriverListener: streamingcontext.DriverListener{
			StandingBy: func() { say.line("standing by") },
			Leading:    func(epoch uint64) { say.line("leading\t%d", epoch) },
			GoingOn: func(*streamingcontext.Context) {
				if *do == finishes {
					if err := driverlog.SetStatus(ctx, node.Log(), application, driverlog.Stopped); err != nil {
						logger.Error("application is not stopped", "err", err)
					}
				}
			},
		},
	}, func(ssc *streamingcontext.Context) error {
		return declare(ssc, *dir, *batch, *build, slow{*delay, say})
	})
}

// A sayer writes whole lines.
type sayer struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sayer) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.w, format+"\n", args...)
}

// leadOnly leads whenever it can, and says so: what is left of a driver without an application.
func leadOnly(ctx context.Context, log *raftlog.Log, say *sayer) error {
	for {
		term, err := log.Lead(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		say.line("leading\t%d", term.Epoch)
		select {
		case <-term.Lost:
		case <-ctx.Done():
			return nil
		}
	}
}
