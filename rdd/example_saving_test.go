package rdd_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/rdd"
)

// names prints the files of a folder.
func names(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	fmt.Println(files, err)
}

// city is a record with names of its own in files.
type city struct {
	Name   string `json:"name"`
	People int    `json:"people,omitempty"`
}

func ExampleCSVFile() {
	inFolder(func(c *rdd.Context, dir string) {
		file := filepath.Join(dir, "cities.csv")
		fmt.Println(os.WriteFile(file, []byte("name;people\nUlm;129000\n\"Bad;Ems\";10000\n"), 0o644))
		show(rdd.Map(rdd.CSVFile(c, file, 2, rdd.CSVOptions{Comma: ';', Header: true}), func(row []string) string { return row[0] }))
		// A promise about the quotes lets the file be cut.
		lines := rdd.CSVFile(c, file, 2, rdd.CSVOptions{Comma: ';', Header: true, NoQuotedNewlines: true})
		show(lines)
		fmt.Println(lines.NumPartitions())
	})
	// Output:
	// <nil>
	// [Ulm Bad;Ems] <nil>
	// [[Ulm 129000] [Bad;Ems 10000]] <nil>
	// 2 <nil>
}

func ExampleSaveAsCSV() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		rows := rdd.Parallelize(c, [][]string{{"a", "1,5"}, {"b", "2"}}, 2)
		fmt.Println(rdd.SaveAsCSV(context.Background(), rows, out, rdd.CSVSaveOptions{Header: []string{"name", "value"}}, rdd.Compress(rdd.Zstd)))
		names(out)
		show(rdd.CSVFile(c, out, 1, rdd.CSVOptions{Header: true}))
	})
	// Output:
	// <nil>
	// [_SUCCESS part-00000.csv.zst part-00001.csv.zst] <nil>
	// [[a 1,5] [b 2]] <nil>
}

func ExampleJSONFile() {
	inFolder(func(c *rdd.Context, dir string) {
		file := filepath.Join(dir, "cities.json")
		fmt.Println(os.WriteFile(file, []byte(`{"name":"Ulm","people":129000}`+"\n"+`{"name":"Ems","river":"Lahn"}`+"\n{\n"), 0o644))
		_, err := rdd.JSONFile[city](c, file, 1).Collect(context.Background())
		bad, ok := errors.AsType[*rdd.DecodeError](err)
		fmt.Println(ok, bad.Line, bad.Offset, bad.Err)
		skip := rdd.SkipBadLines(func(e *rdd.DecodeError) { fmt.Println("line", e.Line, e.Err) })
		show(rdd.JSONFile[city](c, file, 1, rdd.StrictJSON(), skip))
	})
	// Output:
	// <nil>
	// true 3 61 unexpected end of JSON input
	// line 2 json: unknown field "river"
	// line 3 unexpected end of JSON input
	// [{Ulm 129000}] <nil>
}

func ExampleRDD_SaveAsJSON() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		fmt.Println(rdd.Parallelize(c, []city{{"Ulm", 129000}, {"Atlantis", 0}}, 1).SaveAsJSON(context.Background(), out))
		names(out)
		show(rdd.TextFile(c, out, 1))
	})
	// Output:
	// <nil>
	// [_SUCCESS part-00000.json] <nil>
	// [{"name":"Ulm","people":129000} {"name":"Atlantis"}] <nil>
}

func ExampleRDD_SaveAsObjectFile() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		fmt.Println(rdd.Parallelize(c, []pair{{Key: "a", Value: 1}, {Key: "b", Value: 2}}, 2).SaveAsObjectFile(context.Background(), out))
		names(out)
		show(rdd.ObjectFile[pair](c, out))
	})
	// Output:
	// <nil>
	// [_SUCCESS part-00000.obj part-00001.obj] <nil>
	// [(a,1) (b,2)] <nil>
}

func ExampleObjectFile() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		fmt.Println(rdd.Parallelize(c, []float64{0.1, 0.2}, 1).SaveAsObjectFile(context.Background(), out))
		show(rdd.ObjectFile[float64](c, out))
		// A file that lost its end is noticed.
		part := filepath.Join(out, "part-00000.obj")
		whole, err := os.Stat(part)
		fmt.Println(err, os.Truncate(part, whole.Size()-30))
		_, err = rdd.ObjectFile[float64](c, out).Collect(context.Background())
		fmt.Println(errors.Is(err, io.ErrUnexpectedEOF))
	})
	// Output:
	// <nil>
	// [0.1 0.2] <nil>
	// <nil> <nil>
	// true
}

func ExampleRDD_SaveWith() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		err := rdd.Parallelize(c, []uint32{1, 2, 3}, 2).SaveWith(context.Background(), rdd.NewFileCommitter(out, ".bin"),
			func(w io.Writer, rows iter.Seq[uint32]) error {
				for x := range rows {
					if err := binary.Write(w, binary.BigEndian, x); err != nil {
						return err
					}
				}
				return nil
			})
		fmt.Println(err)
		data, err := os.ReadFile(filepath.Join(out, "part-00001.bin"))
		fmt.Println(data, err)
	})
	// Output:
	// <nil>
	// [0 0 0 2 0 0 0 3] <nil>
}

func ExampleNewFileCommitter() {
	inFolder(func(c *rdd.Context, dir string) {
		out := filepath.Join(dir, "out")
		count := func(w io.Writer, rows iter.Seq[string]) error {
			n := 0
			for range rows {
				n++
			}
			_, err := fmt.Fprintln(w, n)
			return err
		}
		fmt.Println(rdd.Parallelize(c, []string{"a", "b", "c"}, 2).SaveWith(context.Background(), rdd.NewFileCommitter(out, ".count"), count))
		names(out)
		show(rdd.TextFile(c, out, 1))
	})
	// Output:
	// <nil>
	// [_SUCCESS part-00000.count part-00001.count] <nil>
	// [1 2] <nil>
}
