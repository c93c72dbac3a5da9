package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/tests/bench/workload"
)

// textSum is how many lines there are, and how many bytes they have.
type textSum struct{ lines, bytes int64 }

// socketTimes is how often the text is sent over a connection, so that the wait for the last batch is short beside a pass.
const socketTimes = 5

// textServer sends the same text over every connection, some times, and closes it when it is gone.
type textServer struct {
	listener net.Listener
	text     []byte
	want     textSum // of all that a connection gets
	serving  sync.WaitGroup
}

func newTextServer(size workload.Size) (*textServer, error) {
	var text bytes.Buffer
	if err := workload.WriteText(&text, workload.DefaultSeed, 0, size.Records()); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &textServer{listener: l, text: text.Bytes()}
	s.want.lines = socketTimes * int64(bytes.Count(s.text, []byte{'\n'}))
	s.want.bytes = socketTimes*int64(len(s.text)) - s.want.lines
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() {
				for range socketTimes {
					_, _ = conn.Write(s.text) // who does not read it all misses some, which is checked
				}
				_ = conn.Close()
			})
		}
	})
	return s, nil
}

func (s *textServer) addr() string { return s.listener.Addr().String() }

func (s *textServer) close() error {
	err := s.listener.Close()
	s.serving.Wait()
	return err
}

// check compares the lines of the last pass.
func (s *textServer) check(got textSum) error {
	if got != s.want {
		return fmt.Errorf("got %+v, want %+v", got, s.want)
	}
	return nil
}

// The settings of the program: batches that are short beside a pass, and room for all that can be read in one.
const (
	socketBatch = 20 * time.Millisecond
	socketBlock = 5 * time.Millisecond
	socketRoom  = 1 << 20
)

// socketProgram reads the server's text once, from its socket through blocks into batches, and adds up the lines.
func socketProgram(ctx context.Context, cores int, s *textServer) (sum textSum, heap uint64, err error) {
	ssc := streamingcontext.New(streamingcontext.Options{
		App: "bench", Interval: socketBatch, BlockInterval: socketBlock, MaxPendingRecords: socketRoom,
		RestartDelay: time.Hour, EngineOptions: streamingcontext.EngineOptions{Cores: cores},
	})
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var peak atomic.Uint64
	dstream.ForeachRDD(ssc.SocketText(s.addr()), func(ctx context.Context, r *rdd.RDD[string], _ dstream.Time) error {
		sums, err := rdd.MapChunks(r, func(in []string, out []textSum) ([]textSum, error) {
			var sum textSum
			for _, line := range in {
				sum.lines++
				sum.bytes += int64(len(line))
			}
			return append(out, sum), nil
		}).Collect(ctx)
		for _, one := range sums {
			sum.lines += one.lines
			sum.bytes += one.bytes
		}
		peak.Store(max(peak.Load(), heapBytes()))
		if sum.lines >= s.want.lines {
			enough()
		}
		return err
	})
	err = ssc.Run(ctx)
	return sum, peak.Load(), err
}

// heapBytes is the memory of live and dead objects.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// scanSocket reads the server's text once, in a loop.
func scanSocket(ctx context.Context, s *textServer) (sum textSum, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.addr())
	if err != nil {
		return sum, err
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		sum.lines++
		sum.bytes += int64(len(lines.Bytes()))
	}
	return sum, errors.Join(lines.Err(), conn.Close())
}

// measureSocket measures lines from a socket: received, cut into blocks, given to batches and read there.
func measureSocket(ctx context.Context, s *suite) (err error) {
	server, err := newTextServer(s.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	cores := s.most()
	var got, scanned textSum
	var heap, peak uint64
	m, err := interleave(ctx, s.rounds, s.minRound,
		subject{
			name: "leat", procs: cores, passes: 1,
			work: func(ctx context.Context) (err error) {
				got, heap, err = socketProgram(ctx, cores, server)
				peak = max(peak, heap)
				return err
			},
			check: func() error { return server.check(got) },
		},
		subject{
			name: "ScanSocket", procs: cores, passes: 1,
			work: func(ctx context.Context) (err error) {
				scanned, err = scanSocket(ctx, server)
				return err
			},
			check: func() error { return server.check(scanned) },
		})
	if err != nil {
		return err
	}
	r := row{workload: "socket", size: s.size, records: int(server.want.lines)}
	r.variant = "text lines into batches, wall"
	row := compare(r, m[0], m[1], wallOf, atLeast(0.5, 0.8))
	row.note = fmt.Sprintf("ratio is peer/row; heap at most %d MiB with the text's %d, %d are sent", peak>>20, len(server.text)>>20, socketTimes*len(server.text)>>20)
	s.table.add(row)
	r.variant = "text lines into batches, cpu"
	s.table.add(gain(r, m[0], m[1], cpuOf, floor{}))
	return nil
}
