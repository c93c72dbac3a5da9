package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// handed is a receiver that stores the blocks a test hands it, each whole, and answers when it is
// stored.
type handed struct {
	blocks chan []int
	stored chan error
}

func newHanded() *handed { return &handed{make(chan []int), make(chan error)} }

func (h *handed) Receive(ctx context.Context, sink receivers.Sink[int]) error {
	for {
		select {
		case rows := <-h.blocks:
			err := sink.StoreBlock(ctx, rows)
			select {
			case h.stored <- err:
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// store hands over a block and waits until it is stored.
func (h *handed) store(t *testing.T, rows ...int) {
	t.Helper()
	h.blocks <- rows
	if err := <-h.stored; err != nil {
		t.Fatal(err)
	}
}

func TestABlockBelongsToTheNextBatch_R8(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	h := newHanded()
	in := streamingcontext.Receive[int](kit.Context(), h)
	out := streamtest.Collect(kit, in)
	parts := streamtest.Collect(kit, dstream.Glom(in))
	kit.Advance(1)
	h.store(t, 1, 2)
	h.store(t, 3)
	kit.Advance(2)
	h.store(t, 4)
	kit.Advance(1)
	wantBatches(t, out, nil, []int{1, 2, 3}, nil, []int{4})
	wantBatches(t, parts, nil, [][]int{{1, 2}, {3}}, nil, [][]int{{4}})
}

func TestReceiverWithoutRecordsHasNoPartitions_I6(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	got := make(chan string, 1)
	dstream.ForeachRDD(streamingcontext.Receive(kit.Context(), idle()), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		n, err := r.NumPartitions()
		got <- fmt.Sprint(r.Node().Op(), " ", n)
		return err
	})
	kit.Advance(1)
	if g := <-got; g != "blocks 0" {
		t.Errorf("RDD %q", g)
	}
}

func TestBlocksAreForgottenWithTheirBatch_C4_D8(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	used, unused := newHanded(), newHanded()
	discard(streamingcontext.Receive[int](kit.Context(), used))
	streamingcontext.Receive[int](kit.Context(), unused)
	kit.Advance(1)
	for i := range 5 {
		used.store(t, i)
		unused.store(t, i)
		kit.Advance(1)
	}
	// The used stream remembers one batch, the other, which no output reaches, none.
	if got := streamingcontext.HeldBatches(kit.Context()); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("batches held %v", got)
	}
}

func TestPushBackHoldsTheReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &streamingcontext.ManualClock{}
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock, MaxPendingRecords: 10})
		h := newHanded()
		var got []int
		dstream.ForeachRDD(streamingcontext.Receive[int](ssc, h), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			got = append(got, rows...)
			return err
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, ssc)
		h.store(t, make([]int, 20)...) // passes, since nothing else is pending
		h.blocks <- []int{1}
		synctest.Wait()
		select {
		case <-h.stored:
			t.Error("a block was stored while 20 records were pending")
		default:
		}
		clock.Advance(1000)
		if err := <-h.stored; err != nil { // there is room once the batch is committed
			t.Error(err)
		}
		clock.Advance(1000)
		if err := ssc.Settled(t.Context(), 2000); err != nil || len(got) != 21 {
			t.Errorf("%d records, %v", len(got), err)
		}
	})
}

func TestGracefulStopProcessesWhatPushBackHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour,
			MaxPendingRecords: 10, BlockInterval: 100 * time.Millisecond})
		accepted := 0
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			for {
				if err := sink.Store(ctx, accepted); err != nil {
					return err
				}
				accepted++
			}
		}))
		var got []int
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			if len(rows) > 10 {
				t.Errorf("a batch of %d records", len(rows))
			}
			got = append(got, rows...)
			return err
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := ssc.Run(ctx); err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x != i {
				t.Fatalf("record %d is %d", i, x)
			}
		}
		// Ten a batch, and what the queue of blocks held at the end.
		if len(got) != accepted || accepted < 100 {
			t.Errorf("%d of %d accepted records processed", len(got), accepted)
		}
	})
}

func TestWhatIsLostAtOnceIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: &streamingcontext.ManualClock{}, MaxPendingRecords: 1})
		answer := make(chan error, 1)
		discard(streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			if err := sink.StoreBlock(ctx, []int{1}); err != nil {
				return err
			}
			answer <- sink.StoreBlock(ctx, []int{2}) // waits for room
			return nil
		})))
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop(t, ssc)
		wantErr(t, "the block that waited", <-answer, context.Canceled)
	})
}

func TestSocketThatComesAndGoes_I5(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	stored := make(chan int64, 100)
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.RestartDelay = time.Second
		o.BlockInterval = 100 * time.Millisecond
		o.Listeners = []streamingcontext.Listener{{
			BatchCompleted:  func(b streamingcontext.BatchInfo) { stored <- b.Records() },
			ReceiverStopped: func(streamingcontext.ReceiverInfo) { stored <- -1 },
		}}
	}})
	out := streamtest.Collect(kit, kit.Context().SocketText(addr))
	kit.Advance(1)
	<-stored
	// until makes batches until all records have come; what the server has sent is on its way.
	until := func(records int64) {
		t.Helper()
		for records > 0 {
			kit.Advance(1)
			if n := <-stored; n >= 0 {
				records -= n
			}
		}
		if records < 0 {
			t.Fatalf("%d records too many", -records)
		}
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "1\n2\n")
	until(2)
	fmt.Fprint(conn, "3\n")
	conn.Close()
	listener.Close() // away: the receiver ends, and its next attempts cannot connect
	until(1)
	kit.Advance(3)
	listener, err = net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan net.Conn)
	go func() {
		conn, _ := listener.Accept()
		accepted <- conn
	}()
	for conn = nil; conn == nil; {
		kit.Advance(1) // restart delays pass
		<-stored
		select {
		case conn = <-accepted:
		default:
		}
	}
	defer conn.Close()
	for len(stored) > 0 {
		<-stored
	}
	fmt.Fprint(conn, "4\n5\n")
	until(2)
	var got []string
	for _, b := range out.Batches() {
		got = append(got, b...)
	}
	if diff := cmp.Diff(got, []string{"1", "2", "3", "4", "5"}); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
}

func TestAReceiverThatPanicsIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		attempts := 0
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			attempts++
			if err := sink.Store(ctx, attempts); err != nil {
				return err
			}
			panic("no")
		}))
		var got []int
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			got = append(got, rows...)
			return err
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := ssc.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(got) != attempts || attempts < 2 {
			t.Errorf("records %v of %d attempts", got, attempts)
		}
	})
}

func TestAReceiverThatIsNil(t *testing.T) {
	opts, _ := seconds()
	ssc := streamingcontext.New(opts)
	discard(streamingcontext.Receive[int](ssc, nil))
	err := ssc.Start(t.Context())
	wantErr(t, "start", err, dstream.ErrNilFunction)
	if b, ok := errors.AsType[*dstream.BuildError](err); !ok || b.Op != "receiver" {
		t.Errorf("start: %v", err)
	}
}
