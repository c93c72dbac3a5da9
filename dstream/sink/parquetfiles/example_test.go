package parquetfiles_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
)

// write does what a driver and its tasks do with a batch of one partition.
func write[T any](ctx context.Context, s sink.Sink[T], b sink.Batch, rows ...T) error {
	if err := s.Begin(ctx, b, 1); err != nil {
		return err
	}
	w, err := s.Part(ctx, b, 0, fmt.Sprintf("%d-%d", b.Epoch, b.Try))
	if err != nil {
		return err
	}
	if err := w.Write(rows); err != nil {
		return err
	}
	note, err := w.Finish(ctx)
	if err != nil {
		return err
	}
	staged, err := s.Seal(ctx, b, [][]byte{note})
	if err != nil {
		return err
	}
	return s.Commit(ctx, b, staged) // once the driver log has the staged bytes
}

func exampleDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "parquetfiles")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

func ExampleRead() {
	type Count struct {
		Word string `parquet:"word"`
		N    int64  `parquet:"n"`
	}
	dir, remove := exampleDir()
	defer remove()
	s := parquetfiles.New[Count](dir)
	for id := range int64(2) {
		b := sink.Batch{App: "words", Output: "counts", ID: id, Epoch: 1, Try: 1}
		if err := write(context.Background(), s, b, Count{"a", id}, Count{"b", 1}); err != nil {
			log.Fatal(err)
		}
	}
	for row, err := range parquetfiles.Read[Count](dir, files.ReadOptions{Output: "counts"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Batch, row.Partition, row.Value.Word, row.Value.N)
	}
	// Output:
	// 0 0 a 0
	// 0 0 b 1
	// 1 0 a 1
	// 1 0 b 1
}

func ExampleLines() {
	type Visit struct {
		Page string   `parquet:"page"`
		Tags []string `parquet:"tags,list"`
	}
	dir, remove := exampleDir()
	defer remove()
	b := sink.Batch{App: "site", Output: "visits", Epoch: 1, Try: 1}
	if err := write(context.Background(), parquetfiles.New[Visit](dir), b, Visit{"/", []string{"new", "de"}}, Visit{"/a", nil}); err != nil {
		log.Fatal(err)
	}
	for row, err := range files.Read(dir, files.ReadOptions{Lines: parquetfiles.Lines}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(row.Line))
	}
	// Output:
	// {"page":"/","tags":["new","de"]}
	// {"page":"/a","tags":[]}
}
