package receivedlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// BenchmarkAppend appends from several goroutines, each one block after another. %ofplain is how the throughput
// compares to a loop that appends the same bytes in the same groups to a file and flushes it.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 32 << 10, 256 << 10} {
		for _, goroutines := range []int{1, 8} {
			b.Run(fmt.Sprintf("bytes=%d/goroutines=%d", size, goroutines), func(b *testing.B) {
				block := make([]byte, size)
				for i := range block {
					block[i] = byte(i * 7)
				}
				disk := &watchedFS{FS: receivedlog.SystemFS}
				log := open(b, b.TempDir(), receivedlog.Options{FS: disk})
				const each = 10
				file, err := os.Create(filepath.Join(b.TempDir(), "plain"))
				if err != nil {
					b.Fatal(err)
				}
				defer file.Close()
				var took, plain time.Duration
				flushes := 0
				for b.Loop() { // in turn, since a disk has its moods
					disk.groups = disk.groups[:0]
					began := time.Now()
					var wait sync.WaitGroup
					for g := range goroutines {
						wait.Go(func() {
							for range each {
								if _, err := log.Append(b.Context(), int32(g), block, nil); err != nil {
									b.Error(err)
								}
							}
						})
					}
					wait.Wait()
					took += time.Since(began)
					plain += plainLoop(b, file, disk.groups)
					flushes += len(disk.groups)
				}
				records := b.N * goroutines * each
				b.ReportMetric(float64(took)/float64(records), "ns/record")
				b.ReportMetric(float64(records)/float64(flushes), "records/flush")
				b.ReportMetric(float64(plain)/float64(records), "plain-ns/record")
				b.ReportMetric(100*float64(plain)/float64(took), "%ofplain")
			})
		}
	}
}

// plainLoop returns how long it takes to append groups of so many bytes to a file, each with a flush.
func plainLoop(b *testing.B, file *os.File, groups []int) time.Duration {
	b.Helper()
	buf := make([]byte, 8<<20)
	began := time.Now()
	for _, n := range groups {
		if _, err := file.Write(buf[:n]); err != nil {
			b.Fatal(err)
		}
		if err := receivedlog.DataSync(file); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// watchedFS notes how many bytes each group has that is written.
type watchedFS struct {
	receivedlog.FS
	groups []int
}

func (w *watchedFS) Create(path string) (receivedlog.File, error) {
	file, err := w.FS.Create(path)
	return watchedFile{file, w}, err
}

type watchedFile struct {
	receivedlog.File
	fs *watchedFS
}

func (f watchedFile) WriteAt(p []byte, off int64) (int, error) {
	if off > 0 { // no header
		f.fs.groups = append(f.fs.groups, len(p))
	}
	return f.File.WriteAt(p, off)
}

func BenchmarkScan(b *testing.B) {
	log := open(b, b.TempDir(), receivedlog.Options{})
	block := make([]byte, 32<<10)
	const records = 1000
	for range records {
		if _, err := log.Append(b.Context(), 1, block, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(records * len(block)))
	for b.Loop() {
		if err := log.Scan(b.Context(), func(receivedlog.Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(time.Duration(b.N*records)), "ns/record")
}
