package cluster_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

// BenchmarkFirstBatch opens a driver that is alone, on an empty folder, and drives an application until its first batch is committed. Batches
// take 20 ms, so that the wait for the clock is not what is measured.
func BenchmarkFirstBatch(b *testing.B) {
	const interval = 20 * time.Millisecond
	var took time.Duration
	for b.Loop() {
		began := time.Now()
		dir := b.TempDir()
		store, err := folder.Open(filepath.Join(dir, "store"), folder.Options{})
		if err != nil {
			b.Fatal(err)
		}
		node, err := cluster.Open(filepath.Join(dir, "node"), cluster.Options{Name: "one", Bootstrap: true})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		opts := streamingcontext.Options{App: "rows", Interval: interval, Store: store,
			Listeners: []streamingcontext.Listener{{BatchCommitted: func(committed streamingcontext.CommittedBatch) {
				if committed.ID == 0 {
					took += time.Since(began)
				}
				stop()
			}}}}
		err = node.Drive(ctx, opts, func(ssc *streamingcontext.Context) error {
			dstream.SaveTo(streamingcontext.Receive(ssc, receivers.Receiver[string](feed{})), "rows", files.Text(filepath.Join(dir, "out")))
			return nil
		})
		stop()
		if err != nil {
			b.Fatal(err)
		}
		if err := node.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/start")
}
