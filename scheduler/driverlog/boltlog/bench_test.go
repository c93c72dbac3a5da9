package boltlog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// plainFile appends and flushes, which is the least that durability costs.
type plainFile struct {
	file *os.File
	data []byte
}

func newPlainFile(b testing.TB, cmds ...driverlog.Command) *plainFile {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	p := &plainFile{file: f}
	for _, c := range cmds {
		p.data = c.Append(p.data)
	}
	return p
}

func (p *plainFile) append(b testing.TB) {
	if _, err := p.file.Write(p.data); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Fdatasync(int(p.file.Fd())); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPropose takes a record to be one command. Each log is measured by turns with a plain file of the same bytes on
// the same disk, as a disk of a shared machine is not the same from one second to the next: medians, and x is their ratio.
func BenchmarkPropose(b *testing.B) {
	command := func(b *testing.B) *runner {
		log := open(b, filepath.Join(b.TempDir(), "driver.db"), 0)
		b.Cleanup(func() {
			if err := log.Close(); err != nil {
				b.Error(err)
			}
		})
		r := lead(b, log)
		r.batches(b, 100)
		return r
	}
	measure := func(b *testing.B, each int, plain *plainFile, propose, between func()) {
		var ours, floor []time.Duration
		for b.Loop() {
			start := time.Now()
			propose()
			mid := time.Now()
			plain.append(b)
			ours, floor = append(ours, mid.Sub(start)), append(floor, time.Since(mid))
			between()
		}
		slices.Sort(ours)
		slices.Sort(floor)
		mine, least := ours[len(ours)/2], floor[len(floor)/2]
		b.ReportMetric(float64(mine.Nanoseconds())/float64(each), "ns/record")
		b.ReportMetric(float64(least.Nanoseconds())/float64(each), "plain-ns/record")
		b.ReportMetric(float64(mine)/float64(least), "x")
		b.ReportMetric(float64(ours[len(ours)/10])/float64(floor[len(floor)/10]), "x-of-fastest-tenth")
		b.ReportMetric(float64(len(plain.data)), "bytes")
	}
	b.Run("begin", func(b *testing.B) {
		r := command(b)
		begin := r.begin(r.next)
		begin.Inputs[0].Data = bytes.Repeat([]byte("r"), 110-len(r.begin(r.next).Append(nil))+len(begin.Inputs[0].Data))
		plain := newPlainFile(b, begin)
		measure(b, 1, plain, func() {
			begin.Batch, begin.Time = r.next, 1000*r.next
			r.propose(b, begin)
			r.next++
		}, func() {
			if r.next%60 == 0 { // before the window is full
				r.all(b, r.close(b)...)
			}
		})
	})
	b.Run("batch_together", func(b *testing.B) {
		r := command(b)
		measure(b, 3, newPlainFile(b, r.begin(r.next), r.prepared(r.next), r.committed(r.next)), func() { r.batches(b, 1) }, func() {})
	})
	b.Run("batch_apart", func(b *testing.B) { // against one flush: two transactions
		r := command(b)
		measure(b, 3, newPlainFile(b, r.begin(r.next), r.prepared(r.next), r.committed(r.next)), func() {
			r.propose(b, r.begin(r.next))
			r.propose(b, r.prepared(r.next))
			r.propose(b, r.committed(r.next))
			r.next++
		}, func() {})
	})
}

// BenchmarkOpen opens a log with a thousand entries and ten thousand kept batches; the plain loop reads the same file.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "driver.db")
	log := open(b, path, 0)
	r := lead(b, log)
	r.propose(b, r.application())
	for range 500 {
		var cmds []driverlog.Command
		for range 20 {
			cmds = append(cmds, r.begin(r.next), r.prepared(r.next), r.committed(r.next))
			r.next++
		}
		r.all(b, cmds...)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("log=boltlog", func(b *testing.B) {
		for b.Loop() {
			if err := open(b, path, 0).Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10_000), "ns/record")
	})
	b.Run("log=plain_loop", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10_000), "ns/record")
	})
}
