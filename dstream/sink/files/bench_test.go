package files_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/dstream/sink/files"
)

// chunk is how many rows come at once.
const chunk = 512

func benchRows(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("word-%d\t%d", i%5000, i)
	}
	return rows
}

// BenchmarkStage writes a partition of a million short rows, durably. bare is a bufio.Writer and a sync on the same bytes.
func BenchmarkStage(b *testing.B) {
	rows := benchRows(1_000_000)
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/record")
	}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		name := filepath.Join(b.TempDir(), "part")
		for b.Loop() {
			f, err := os.Create(name)
			if err != nil {
				b.Fatal(err)
			}
			w := bufio.NewWriterSize(f, 64<<10)
			for _, row := range rows {
				_, _ = w.WriteString(row)
				_ = w.WriteByte('\n')
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			if err := os.Remove(name); err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		s := files.Text(b.TempDir())
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
			for at := 0; at < len(rows); at += chunk {
				if err := w.Write(rows[at:min(at+chunk, len(rows))]); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := w.Finish(ctx); err != nil {
				b.Fatal(err)
			}
			if err := os.Remove(filepath.Join(s.Dir(), "app/out/data/00000000000000000000", fmt.Sprintf("part-00000-%d.txt", n))); err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
}

// BenchmarkBatch is a whole batch of one short part: stage, seal, commit, clean. bare is one append and sync, as its yardstick.
func BenchmarkBatch(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "f"))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := f.WriteString("a\n"); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		_ = f.Close()
	})
	b.Run("text", func(b *testing.B) {
		s := files.Text(b.TempDir())
		ctx, id := b.Context(), int64(0)
		for b.Loop() {
			bt := batch(id)
			id++
			if err := s.Begin(ctx, bt, 1); err != nil {
				b.Fatal(err)
			}
			w, err := s.Part(ctx, bt, 0, "a")
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Write([]string{"a"}); err != nil {
				b.Fatal(err)
			}
			note, err := w.Finish(ctx)
			if err != nil {
				b.Fatal(err)
			}
			staged, err := s.Seal(ctx, bt, [][]byte{note})
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Commit(ctx, bt, staged); err != nil {
				b.Fatal(err)
			}
			if err := s.Clean(ctx, bt); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead reads a million rows, verified. bare is a bufio.Scanner on the same file.
func BenchmarkRead(b *testing.B) {
	rows := benchRows(1_000_000)
	dir := b.TempDir()
	s := files.Text(dir)
	w, err := s.Part(b.Context(), batch(0), 0, "a")
	if err == nil {
		err = s.Begin(b.Context(), batch(0), 1)
	}
	if err == nil {
		err = w.Write(rows)
	}
	var note, staged []byte
	if err == nil {
		note, err = w.Finish(b.Context())
	}
	if err == nil {
		staged, err = s.Seal(b.Context(), batch(0), [][]byte{note})
	}
	if err == nil {
		err = s.Commit(b.Context(), batch(0), staged)
	}
	if err != nil {
		b.Fatal(err)
	}
	report := func(b *testing.B, n int) {
		if n != len(rows) {
			b.Fatalf("%d rows", n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/record")
	}
	b.Run("bare", func(b *testing.B) {
		n := 0
		for b.Loop() {
			f, err := os.Open(filepath.Join(dir, "app/out/data/00000000000000000000/part-00000-a.txt"))
			if err != nil {
				b.Fatal(err)
			}
			n = 0
			for lines := bufio.NewScanner(f); lines.Scan(); {
				n++
			}
			_ = f.Close()
		}
		report(b, n)
	})
	b.Run("files", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n = 0
			for _, err := range files.Read(dir, files.ReadOptions{}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		report(b, n)
	})
}
