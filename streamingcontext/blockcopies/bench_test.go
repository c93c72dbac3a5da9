package blockcopies_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// BenchmarkAppend measures one block of a thousand records of 100 bytes, made durable on one, two and three drivers of one disk, by so many receivers at
// once, beside the log of one driver.
func BenchmarkAppend(b *testing.B) {
	const records = 1000
	data := bytes.Repeat([]byte{7}, records*100)
	for _, writers := range []int{1, 8} {
		run := func(name string, log streamingcontext.BlockLog) {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				for b.Loop() {
					var work sync.WaitGroup
					for w := range writers {
						work.Go(func() {
							if _, err := log.Append(b.Context(), int32(w), data, nil); err != nil {
								b.Error(err)
							}
						})
					}
					work.Wait()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*writers*records), "ns/record")
			})
		}
		log, err := receivedlog.Open(b.TempDir(), receivedlog.Options{})
		if err != nil {
			b.Fatal(err)
		}
		run("plain", log)
		if err := log.Close(); err != nil {
			b.Error(err)
		}
		for copies := 1; copies <= 3; copies++ {
			names := []string{"a", "b", "c"}[:copies]
			w := newWorld(b, names...)
			var drivers []*driver
			for _, n := range names {
				drivers = append(drivers, w.driver(n, func(o *blockcopies.Options) { o.Copies = copies }))
			}
			run(fmt.Sprintf("copies=%d", copies), drivers[0].lead(1))
			for _, d := range drivers {
				d.stop()
			}
		}
	}
}
