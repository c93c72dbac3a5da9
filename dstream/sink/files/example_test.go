package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
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

func tempDir() string {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

func ExampleRead() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s := files.Text(dir)
	for id := range int64(2) {
		b := sink.Batch{App: "words", Output: "counts", ID: id, Epoch: 1, Try: 1}
		if err := write(ctx, s, b, fmt.Sprintf("a\t%d", id), "b\t1"); err != nil {
			log.Fatal(err)
		}
	}
	for row, err := range files.Read(dir, files.ReadOptions{Output: "counts"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %d %d %q\n", row.Output, row.Batch, row.Partition, row.Line)
	}
	// Output:
	// counts 0 0 "a\t0"
	// counts 0 0 "b\t1"
	// counts 1 0 "a\t1"
	// counts 1 0 "b\t1"
}

func ExampleJSON() {
	type count struct {
		Word string `json:"word"`
		N    int    `json:"n"`
	}
	dir := tempDir()
	defer os.RemoveAll(dir)
	b := sink.Batch{App: "words", Output: "counts", Epoch: 1, Try: 1}
	if err := write(context.Background(), files.JSON[count](dir), b, count{"a<b", 2}, count{"c", 1}); err != nil {
		log.Fatal(err)
	}
	for row, err := range files.Read(dir, files.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(row.Line))
	}
	// Output:
	// {"word":"a<b","n":2}
	// {"word":"c","n":1}
}

func ExampleCSV() {
	type count struct {
		Word string
		N    int
	}
	dir := tempDir()
	defer os.RemoveAll(dir)
	b := sink.Batch{App: "words", Output: "counts", Epoch: 1, Try: 1}
	if err := write(context.Background(), files.CSV[count](dir), b, count{"a,b", 2}, count{"c", 1}); err != nil {
		log.Fatal(err)
	}
	for row, err := range files.Read(dir, files.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(row.Line))
	}
	// Output:
	// "a,b",2
	// c,1
}

func ExampleNew() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	s := files.New(dir, files.Options[[]string]{Format: files.CSVFormat[[]string](files.CSVOptions{Comma: ';', Header: []string{"word", "n"}})})
	b := sink.Batch{App: "words", Output: "counts", Epoch: 1, Try: 1}
	if err := write(context.Background(), s, b, []string{"a", "2"}); err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "words/counts/data/00000000000000000000/part-00000-1-1.csv"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// word;n
	// a;2
}

func ExampleVerify() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	b := sink.Batch{App: "words", Output: "counts", Epoch: 1, Try: 1}
	if err := write(context.Background(), files.Text(dir), b, "a\t2"); err != nil {
		log.Fatal(err)
	}
	report, err := files.Verify(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report, report.Err())

	name := filepath.Join(dir, "words/counts/data/00000000000000000000/part-00000-1-1.txt")
	if err := os.WriteFile(name, []byte("a\t3\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	report, err = files.Verify(filepath.Join(dir, "words", "counts"))
	if err != nil {
		log.Fatal(err)
	}
	for _, problem := range report.Problems {
		short, _ := filepath.Rel(dir, problem.(*files.DamageError).File)
		fmt.Println(filepath.ToSlash(short), problem.(*files.DamageError).Problem)
	}
	// Output:
	// 1 outputs, 1 batches, 1 files, 1 rows, 4 bytes; 0 problems, 0 garbage, 0 temporary, 0 unexpected <nil>
	// words/counts/data/00000000000000000000/part-00000-1-1.txt not what its checksum says
}

func ExampleText() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s := files.Text(dir)
	b := sink.Batch{App: "words", Output: "counts", Epoch: 1, Try: 1}
	fmt.Println(write(ctx, s, b, "one", "a line\nand another"))
	last, err := s.Last(ctx, "words", "counts")
	fmt.Println(last.ID, err)
	// Output:
	// words/counts batch 0, partition 0, row 1: holds a newline
	// -1 <nil>
}

func ExampleParts() {
	dir := tempDir()
	defer os.RemoveAll(dir)
	b := sink.Batch{App: "words", Output: "counts", ID: 4, Epoch: 1, Try: 1}
	if err := write(context.Background(), files.Text(dir), b, "a\t2", "b\t1"); err != nil {
		log.Fatal(err)
	}
	for part, err := range files.Parts(dir, files.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(part.Batch, part.Partition, part.Format, part.Rows, part.Bytes, filepath.Base(part.File))
	}
	// Output:
	// 4 0 text 2 8 part-00000-1-1.txt
}
