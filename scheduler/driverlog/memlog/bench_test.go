package memlog_test

import (
	"sync"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// BenchmarkPropose takes a record to be one command; three make a batch. The plain loop beside it
// counts under a mutex, which is the least that several proposers need.
func BenchmarkPropose(b *testing.B) {
	perRecord := func(b *testing.B, each int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*each), "ns/record")
	}
	b.Run("log=memlog/inputs=0", func(b *testing.B) {
		b.ReportAllocs()
		log := open(b, memlog.Options{})
		d := newDriver(b, log, nil)
		d.inputs = nil
		d.batches(b, 1000)
		for b.Loop() {
			d.batches(b, 1)
		}
		perRecord(b, 3)
	})
	b.Run("log=memlog/inputs=1", func(b *testing.B) {
		b.ReportAllocs()
		log := open(b, memlog.Options{})
		d := newDriver(b, log, make([]byte, 40))
		d.batches(b, 1000)
		for b.Loop() {
			d.batches(b, 1)
		}
		perRecord(b, 3)
	})
	b.Run("log=plain_loop", func(b *testing.B) {
		b.ReportAllocs()
		var mu sync.Mutex
		var next, time int64
		for b.Loop() {
			for range 3 {
				mu.Lock()
				next++
				time += 2
				mu.Unlock()
			}
		}
		perRecord(b, 3)
	})
}
