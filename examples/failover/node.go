package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext"
)

// runNode is one driver process, until ctx ends. It says on stdout what it does.
func runNode(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("failover node", flag.ContinueOnError)
	number := flags.Int("number", 0, "of the node; number 0 makes a new cluster where it finds none")
	dir := flags.String("dir", "", "folder of all nodes")
	listen := flags.String("listen", "", "address")
	via := flags.String("via", "", "addresses to dial for those of others, as other=dialled,...")
	batch := flags.Duration("batch", 0, "batch interval")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", *number)
	own := filepath.Join(*dir, "node-"+strconv.Itoa(*number))

	var cluster atomic.Pointer[raftlog.Log] // the links ask it for the cluster
	links, err := link.Listen(link.Options{Address: *listen, Name: "node-" + strconv.Itoa(*number), Logger: logger, Network: detours(*via),
		Cluster: func() string {
			if l := cluster.Load(); l != nil {
				return l.Cluster()
			}
			return ""
		}})
	if err != nil {
		return err
	}
	log, err := raftlog.Open(filepath.Join(own, "raft"), raftlog.Options{Name: "node-" + strconv.Itoa(*number), Bootstrap: *number == 0,
		Network: links.Protocol("raft"), Address: *listen, Timeouts: raftlog.Fast(), Logger: logger})
	if err != nil {
		return errors.Join(err, links.Close())
	}
	cluster.Store(log)
	defer func() { err = errors.Join(err, log.Close(), links.Close()) }()
	store, err := folder.Open(filepath.Join(*dir, "shared"), folder.Options{})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer stop()
	serving.Go(func() {
		if err := links.Run(ctx); err != nil {
			logger.Error("links end", "err", err)
			stop()
		}
	})
	serving.Go(func() {
		if err := admin.Serve(ctx, links.Protocol(link.Admin), admin.Of(log)); err != nil {
			logger.Error("requests end", "err", err)
			stop()
		}
	})
	say := &sayer{w: stdout}
	return streamingcontext.Drive(ctx, "", streamingcontext.Options{
		App: "failover", Interval: *batch, Cluster: log, Store: store, FileRemember: 24 * time.Hour, Missed: streamingcontext.MissedCoalesce, Logger: logger,
		Listeners: []streamingcontext.Listener{{BatchCommitted: func(b streamingcontext.CommittedBatch) {
			say.line("batch\t%d\t%d", b.ID, b.Epoch)
		}}},
		DriverListener: streamingcontext.DriverListener{
			StandingBy: func() { say.line("standing by") },
			Leading:    func(epoch uint64) { say.line("leading\t%d", epoch) },
		},
	}, func(ssc *streamingcontext.Context) error { return declare(ssc, *dir, *batch) })
}

// declare declares the streams: the counts of each batch, and running totals.
func declare(ssc *streamingcontext.Context, dir string, batch time.Duration) error {
	lines := ssc.TextFiles(filepath.Join(dir, "in"), streamingcontext.IncludeExisting())
	counts := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
	dstream.SaveTo(dstream.Map(counts, row), "counts", files.Text(filepath.Join(dir, "out")))
	totals := dstream.UpdateStateByKey(counts, func(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
		for _, n := range counts {
			old.Value += n
		}
		return rdd.Option[int64]{Value: old.Value, OK: true}
	}, dstream.TouchedOnly())
	dstream.SaveTo(dstream.Map(totals, row), "totals", files.Text(filepath.Join(dir, "out")))
	return totals.Checkpoint(10 * batch)
}

// row is a count as it is written.
func row(p rdd.Pair[string, int64]) string { return p.Key + "\t" + strconv.FormatInt(p.Value, 10) }

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

// A detour dials other addresses than it is told, so that there is something between the nodes that can be cut.
type detour map[string]string

// detours returns the network of a node; nil, which is TCP, where all ways are straight.
func detours(via string) link.Network {
	if via == "" {
		return nil
	}
	d := detour{}
	for pair := range strings.SplitSeq(via, ",") {
		other, dialled, _ := strings.Cut(pair, "=")
		d[other] = dialled
	}
	return d
}

// Listen listens on TCP.
func (d detour) Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// DialContext dials what stands between this node and an address.
func (d detour) DialContext(ctx context.Context, address string) (net.Conn, error) {
	if other, ok := d[address]; ok {
		address = other
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
