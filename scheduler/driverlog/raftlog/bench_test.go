package raftlog_test

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// bare is a state machine that does nothing.
type bare struct{}

func (bare) Apply(*raft.Log) any                 { return nil }
func (bare) Snapshot() (raft.FSMSnapshot, error) { return nil, io.EOF }
func (bare) Restore(r io.ReadCloser) error       { return nil }

// bareNodes returns the leader of a cluster of raft alone, with the disks and the connections of ours.
func bareNodes(b *testing.B, n int) *raft.Raft {
	b.Helper()
	f := newFabric()
	var servers []raft.Server
	for i := range n {
		name := fmt.Sprintf("n%d", i+1)
		servers = append(servers, raft.Server{ID: raft.ServerID(name), Address: raft.ServerAddress(name)})
	}
	var nodes []*raft.Raft
	for _, s := range servers {
		dir := b.TempDir()
		db, err := raftboltdb.New(raftboltdb.Options{Path: dir + "/raft.db", BoltOptions: &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}})
		if err != nil {
			b.Fatal(err)
		}
		conf := raft.DefaultConfig()
		conf.LocalID, conf.LogLevel, conf.LogOutput = s.ID, "OFF", io.Discard
		conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = 500*time.Millisecond, 500*time.Millisecond, 250*time.Millisecond
		snaps := raft.NewDiscardSnapshotStore()
		trans := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream: raftlog.Layer(f.listen(string(s.ID)), string(s.ID)), MaxPool: 3, MaxRPCsInFlight: 1, Timeout: 2 * time.Second, Logger: raftlog.Quiet(),
		})
		if err := raft.BootstrapCluster(conf, db, db, snaps, trans, raft.Configuration{Servers: servers}); err != nil {
			b.Fatal(err)
		}
		node, err := raft.NewRaft(conf, bare{}, db, db, snaps, trans)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := node.Shutdown().Error(); err != nil {
				b.Error(err)
			}
			_ = db.Close()
		})
		nodes = append(nodes, node)
	}
	for {
		for _, node := range nodes {
			if node.State() == raft.Leader && node.Barrier(time.Second).Error() == nil {
				return node
			}
		}
		<-time.After(10 * time.Millisecond)
	}
}

// leaderOf returns a leader among n nodes, the only one where n is 1.
func leaderOf(b *testing.B, n int) (*raftlog.Log, uint64) {
	b.Helper()
	opts := raftlog.Options{Logger: slog.New(slog.DiscardHandler)}
	if n == 1 {
		log := open(b, b.TempDir(), opts)
		b.Cleanup(func() { _ = log.Close() })
		term, err := log.Lead(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return log, term.Epoch
	}
	c := newCluster(b, n, opts)
	b.Cleanup(c.close)
	log, term := c.lead(c.names...)
	return log, term.Epoch
}

// BenchmarkPropose decides one batch after another, with a command at a time.
func BenchmarkPropose(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			log, epoch := leaderOf(b, n)
			cmds := batches(epoch, "counts")
			for b.Loop() {
				if _, err := log.Propose(b.Context(), cmds()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
		})
		b.Run(fmt.Sprintf("nodes=%d/bare_raft", n), func(b *testing.B) { applyBare(b, n) })
	}
}

// applyBare applies one entry after another, with nothing but raft.
func applyBare(b *testing.B, nodes int) {
	node := bareNodes(b, nodes)
	data := make([]byte, 64)
	for b.Loop() {
		if err := node.Apply(data, 0).Error(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
}

// BenchmarkEmptyBatch decides batches without input, whose three commands are proposed together; bare raft applies one entry for each.
func BenchmarkEmptyBatch(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			log, epoch := leaderOf(b, n)
			next := batches(epoch, "counts")
			for b.Loop() {
				if _, err := log.ProposeAll(b.Context(), []driverlog.Command{next(), next(), next()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
		})
		b.Run(fmt.Sprintf("nodes=%d/bare_raft", n), func(b *testing.B) { applyBare(b, n) })
	}
}

// BenchmarkWriters decides the batches of 64 applications side by side.
func BenchmarkWriters(b *testing.B) {
	const writers = 64
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d/writers=%d", n, writers), func(b *testing.B) {
			log, epoch := leaderOf(b, n)
			var next [writers]func() driverlog.Command
			for i := range next {
				next[i] = batches(epoch, fmt.Sprintf("app-%d", i))
			}
			rounds(b, writers, func(i int) error {
				_, err := log.Propose(b.Context(), next[i]())
				return err
			})
		})
		b.Run(fmt.Sprintf("nodes=%d/writers=%d/bare_raft", n, writers), func(b *testing.B) {
			node := bareNodes(b, n)
			data := make([]byte, 64)
			rounds(b, writers, func(int) error { return node.Apply(data, 0).Error() })
		})
	}
}

// rounds runs one step of each writer as one round.
func rounds(b *testing.B, writers int, step func(i int) error) {
	var done atomic.Int64
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				if err := step(i); err != nil {
					b.Error(err)
				}
				done.Add(1)
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(done.Load()), "ns/record")
}

// batches returns the commands of one batch after another.
func batches(epoch uint64, app string) func() driverlog.Command {
	id, step := int64(0), 0
	return func() driverlog.Command {
		cmd := driverlog.Command{Epoch: epoch, App: app, Batch: id}
		switch step {
		case 0:
			cmd.Kind, cmd.Time = driverlog.Begin, id
		case 1:
			cmd.Kind = driverlog.Prepared
		case 2:
			cmd.Kind = driverlog.Committed
			id++
		}
		step = (step + 1) % 3
		return cmd
	}
}
