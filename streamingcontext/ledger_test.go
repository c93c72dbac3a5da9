package streamingcontext

import (
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// leading returns a ledger that leads a log in memory.
func leading(tb testing.TB, committed func(int64, dstream.Time)) *ledger {
	tb.Helper()
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { log.Close() })
	term, err := log.Lead(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	l := newLedger(log, protocol.Options{App: "app", Epoch: term.Epoch}, rollForward{})
	l.committed = committed
	return l
}

func TestLedgerCommitsInTheOrderOfBatches(t *testing.T) {
	var committed []dstream.Time
	l := leading(t, func(_ int64, at dstream.Time) { committed = append(committed, at) })
	var all []*batch
	for at := dstream.Time(1); at <= 4; at++ {
		b, err := l.begin(t.Context(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	for _, step := range []struct {
		ends int // a batch, counted from 0
		want int // how many are committed then
	}{{2, 0}, {1, 0}, {0, 3}, {3, 4}} {
		if failed, err := l.end(t.Context(), all[step.ends], func() {}); failed != nil || err != nil {
			t.Fatal(failed, err)
		}
		if len(committed) != step.want {
			t.Errorf("after batch %d ended: committed %v", step.ends, committed)
		}
		if got := len(l.pending()); got != 4-step.want {
			t.Errorf("after batch %d ended: %d pending", step.ends, got)
		}
	}
}

// BenchmarkLedger is what the decisions about a batch of one input cost: Begin, Prepared, Committed.
func BenchmarkLedger(b *testing.B) {
	l := leading(b, func(int64, dstream.Time) {})
	inputs := []driverlog.Input{{Stream: 0, Data: make([]byte, 32)}}
	at := dstream.Time(0)
	b.ReportAllocs()
	for b.Loop() {
		at += 1000
		if err := l.awaitRoom(b.Context()); err != nil {
			b.Fatal(err)
		}
		ba, err := l.begin(b.Context(), at, inputs)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.end(b.Context(), ba, func() {}); err != nil {
			b.Fatal(err)
		}
		l.tickOver(at)
	}
}
