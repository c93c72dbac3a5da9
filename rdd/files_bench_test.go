package rdd

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchRow is a record of the files.
type benchRow struct {
	Name  string
	Count int64
	Price float64
}

// BenchmarkReadFiles reads 100,000 records in one task; "loop" is encoding/json and encoding/csv over the same bytes.
func BenchmarkReadFiles(b *testing.B) {
	const n = 100_000
	c, _ := inlineContext(b, Options{})
	rows := make([]benchRow, n)
	fields := make([][]string, n)
	for i := range rows {
		rows[i] = benchRow{fmt.Sprint("name", i), int64(i), float64(i) / 4}
		fields[i] = []string{rows[i].Name, fmt.Sprint(i), fmt.Sprint(rows[i].Price)}
	}
	dir := b.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	r := Parallelize(c, rows, 1)
	must(0, r.SaveAsJSON(b.Context(), in("json")))
	must(0, r.SaveAsObjectFile(b.Context(), in("obj")))
	must(0, r.SaveAsObjectFile(b.Context(), in("zst"), Compress(Zstd)))
	must(0, SaveAsCSV(b.Context(), Parallelize(c, fields, 1), in("csv"), CSVSaveOptions{}))
	jsonText := must(os.ReadFile(in("json/part-00000.json")))
	csvText := must(os.ReadFile(in("csv/part-00000.csv")))
	for _, x := range []struct {
		name string
		read func() (int64, error)
	}{
		{"json/loop", func() (int64, error) {
			found := int64(0)
			for line := range bytes.Lines(jsonText) {
				var x benchRow
				if err := json.Unmarshal(line, &x); err != nil {
					return found, err
				}
				found++
			}
			return found, nil
		}},
		{"json/rdd", func() (int64, error) { return JSONFile[benchRow](c, in("json"), 1).Count(b.Context()) }},
		{"csv/loop", func() (int64, error) {
			found, r := int64(0), csv.NewReader(bytes.NewReader(csvText))
			for {
				if _, err := r.Read(); err == io.EOF {
					return found, nil
				} else if err != nil {
					return found, err
				}
				found++
			}
		}},
		{"csv/rdd", func() (int64, error) { return CSVFile(c, in("csv"), 1, CSVOptions{}).Count(b.Context()) }},
		{"csv/rdd lines", func() (int64, error) {
			return CSVFile(c, in("csv"), 1, CSVOptions{NoQuotedNewlines: true}).Count(b.Context())
		}},
		{"object/rdd", func() (int64, error) { return ObjectFile[benchRow](c, in("obj")).Count(b.Context()) }},
		{"object/rdd zstd", func() (int64, error) { return ObjectFile[benchRow](c, in("zst")).Count(b.Context()) }},
		{"text/loop", func() (int64, error) { return int64(strings.Count(string(csvText), "\n")), nil }},
		{"text/rdd", func() (int64, error) { return TextFile(c, in("csv"), 1).Count(b.Context()) }},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if found, err := x.read(); found != n || err != nil {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}
