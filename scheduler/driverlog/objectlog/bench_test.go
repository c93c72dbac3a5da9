package objectlog_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

// BenchmarkBatch is a batch of one Begin and one Prepared, each waited for, with the Committed in between; a record is a command.
// The plain loop is the same number of creations in the store.
func BenchmarkBatch(b *testing.B) {
	for _, place := range []struct {
		name  string
		store func(b *testing.B) blobstore.Store
	}{
		{"store=memory", func(*testing.B) blobstore.Store { return blobtest.NewMemory() }},
		{"store=folder", func(b *testing.B) blobstore.Store {
			s, err := folder.Open(filepath.Join(b.TempDir(), "store"), folder.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return s
		}},
		{"store=s3", func(b *testing.B) blobstore.Store {
			s, err := s3store.Open(b.Context(), s3test.Bucket(b, *server))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(s.Close)
			return s
		}},
	} {
		b.Run(place.name+"/log", func(b *testing.B) {
			log := open(b, place.store(b), objectlog.Options{})
			r := lead(b, log)
			for b.Loop() {
				for _, cmd := range []driverlog.Command{r.begin(r.next), r.prepared(r.next), r.committed(r.next)} {
					if _, err := log.Propose(b.Context(), cmd); err != nil {
						b.Fatal(err)
					}
				}
				r.next++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*b.N), "ns/record")
			closeLog(b, log)
		})
		b.Run(place.name+"/plain", func(b *testing.B) {
			store := place.store(b)
			data := make([]byte, 200)
			n := 0
			for b.Loop() {
				for range 2 {
					n++
					if err := store.PutIfAbsent(b.Context(), fmt.Sprintf("plain/%010d", n), data); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(3*b.N), "ns/record")
		})
	}
}
