package dstream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// BenchmarkStateCheckpoint measures rounds of ten batches that touch one key in a hundred of a million, the tenth of which is
// checkpointed: not at all, whole, or as what changed. Reported are the time a checkpoint holds its batch up (the worst, and the
// median, both beyond what other batches take) and its bytes.
func BenchmarkStateCheckpoint(b *testing.B) {
	const keys, perBatch = 1_000_000, 1_000
	in := newTouchedKeys(keys, perBatch)
	initial := make([]rdd.Pair[int, int], keys)
	for i := range initial {
		initial[i].Key = i
	}
	for _, kind := range []string{"none", "whole", "changes"} {
		b.Run(fmt.Sprintf("%s/keys=%d/touched=%d", kind, keys, 10*perBatch), func(b *testing.B) {
			d := newDriver(b, setup{parallelism: 1, dir: b.TempDir(), durable: true})
			d.graph.KeepCheckpoints(true)
			d.graph.FullCheckpoints(kind == "whole")
			pairs := dstream.NewInput(d.graph, "touched", "Touched", in)
			s := dstream.UpdateStateByKey(pairs, sumState, dstream.InitialState(rdd.FromBlocks(d.rdds, [][]rdd.Pair[int, int]{initial})), dstream.TouchedOnly())
			every := 10
			if kind == "none" {
				every = 1000 // hardly any
			}
			s.Checkpoint(seconds(every))
			dstream.ForeachRDD(s, func(ctx ctx, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
				_, err := r.Take(ctx, 1)
				return err
			})
			d.run(10) // the first is whole
			var others time.Duration
			var due []time.Duration
			rounds := 0
			for b.Loop() {
				rounds++
				for i := range 10 {
					begin := time.Now()
					if err := d.step(); err != nil {
						b.Fatal(err)
					}
					took := time.Since(begin)
					if i < 9 {
						others += took
						continue
					}
					due = append(due, took)
				}
				b.StopTimer()
				sweepFolders(b, d)
				b.StartTimer()
			}
			usual := others / time.Duration(9*rounds)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds)/10/perBatch, "ns/record")
			slices.Sort(due)
			b.ReportMetric(float64(due[len(due)-1]-usual)/1e6, "worst-stall-ms")
			b.ReportMetric(float64(due[len(due)/2]-usual)/1e6, "stall-ms")
			b.ReportMetric(float64(newestBytes(b, d)), "bytes/checkpoint")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// newestBytes is how long the files of the newest checkpoint are, without those it builds on.
func newestBytes(b *testing.B, d *driver) (n int64) {
	for _, s := range d.graph.Checkpoint() {
		newest := s.Files[len(s.Files)-1]
		entries, err := os.ReadDir(filepath.Join(d.rdds.Options().CheckpointDir, newest.Dir))
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				b.Fatal(err)
			}
			n += info.Size()
		}
	}
	return n
}
