package parquetfiles_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
)

// event is a row as they are met: some text that repeats, some numbers.
type event struct {
	User  string  `parquet:"user" json:"user"`
	Page  string  `parquet:"page" json:"page"`
	At    int64   `parquet:"at" json:"at"`
	Score float64 `parquet:"score" json:"score"`
}

func events(n int) []event {
	rows := make([]event, n)
	for i := range rows {
		rows[i] = event{fmt.Sprintf("user-%d", i*7919%5000), fmt.Sprintf("/page/%d", i%300), 1_700_000_000_000 + int64(i), float64(i%1000) / 8}
	}
	return rows
}

// BenchmarkStage writes a partition of 200,000 rows, durably: as Parquet, as lines of JSON, and bare: the same JSON through a
// bufio.Writer and a sync. B/record is the size of the file.
func BenchmarkStage(b *testing.B) {
	rows := events(200_000)
	report := func(b *testing.B, bytes int64) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/record")
		b.ReportMetric(float64(bytes)/float64(len(rows)), "B/record")
	}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		var size int64
		for b.Loop() {
			f, err := os.Create(filepath.Join(b.TempDir(), "part"))
			if err != nil {
				b.Fatal(err)
			}
			w := bufio.NewWriterSize(f, 64<<10)
			e := json.NewEncoder(w)
			for i := range rows {
				_ = e.Encode(&rows[i])
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			size, _ = f.Seek(0, io.SeekCurrent)
			_ = f.Close()
		}
		report(b, size)
	})
	stage := func(s *files.Sink[event], suffix string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			ctx, n := b.Context(), 0
			if err := s.Begin(ctx, batch(0), 1); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				n++
				w, err := s.Part(ctx, batch(0), 0, fmt.Sprint(n))
				if err != nil {
					b.Fatal(err)
				}
				for at := 0; at < len(rows); at += 512 {
					if err := w.Write(rows[at:min(at+512, len(rows))]); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := w.Finish(ctx); err != nil {
					b.Fatal(err)
				}
			}
			info, err := os.Stat(filepath.Join(s.Dir(), fmt.Sprintf("app/out/data/00000000000000000000/part-00000-%d%s", n, suffix)))
			if err != nil {
				b.Fatal(err)
			}
			report(b, info.Size())
		}
	}
	b.Run("json", stage(files.JSON[event](b.TempDir()), ".json"))
	b.Run("parquet", stage(parquetfiles.New[event](b.TempDir()), ".parquet"))
}

// BenchmarkRead reads 200,000 rows into structs, verified: from Parquet, and from lines of JSON.
func BenchmarkRead(b *testing.B) {
	rows := events(200_000)
	report := func(b *testing.B, n int) {
		if n != len(rows) {
			b.Fatalf("%d rows", n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/record")
	}
	b.Run("json", func(b *testing.B) {
		dir, n := b.TempDir(), 0
		put(b, sink.Sink[event](files.JSON[event](dir)), batch(0), rows)
		for b.Loop() {
			n = 0
			for row, err := range files.Read(dir, files.ReadOptions{}) {
				var e event
				if err != nil || json.Unmarshal(row.Line, &e) != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		report(b, n)
	})
	b.Run("parquet", func(b *testing.B) {
		dir, n := b.TempDir(), 0
		put(b, sink.Sink[event](parquetfiles.New[event](dir)), batch(0), rows)
		for b.Loop() {
			n = 0
			for _, err := range parquetfiles.Read[event](dir, files.ReadOptions{}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		report(b, n)
	})
}
