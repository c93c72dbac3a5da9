package rdd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestCSVFile(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 70_000)
	for _, x := range []struct {
		name, text string
		o          CSVOptions
		want       [][]string
	}{
		{"plain", "a,b\nc,d\n", CSVOptions{}, [][]string{{"a", "b"}, {"c", "d"}}},
		{"no end", "a,b\nc,d", CSVOptions{}, [][]string{{"a", "b"}, {"c", "d"}}},
		{"CRLF", "a,b\r\n\r\nc,d\r\n", CSVOptions{}, [][]string{{"a", "b"}, {"c", "d"}}},
		{"empty", "", CSVOptions{}, [][]string{}},
		{"only empty lines", "\n\r\n\n", CSVOptions{}, [][]string{}},
		{"quotes", "\"a,1\",\"say \"\"b\"\"\"\n\"\",d\n", CSVOptions{}, [][]string{{"a,1", `say "b"`}, {"", "d"}}},
		{"long", long + ",\"" + long + "\"\nb,c\n", CSVOptions{}, [][]string{{long, long}, {"b", "c"}}},
		{"header", "h,i\na,b\n", CSVOptions{Header: true}, [][]string{{"a", "b"}}},
		{"only a header", "h,i\n", CSVOptions{Header: true}, [][]string{}},
		{"options", "# no\na; b\n#; c\n", CSVOptions{Comma: ';', Comment: '#', TrimLeadingSpace: true}, [][]string{{"a", "b"}}},
		{"any fields", "a\nb,c\n", CSVOptions{FieldsPerRecord: -1}, [][]string{{"a"}, {"b", "c"}}},
		{"lazy quotes", "a \"b\",c\n", CSVOptions{LazyQuotes: true}, [][]string{{`a "b"`, "c"}}},
		{"byte order mark", "\ufeff\"h\",i\na,b\n", CSVOptions{}, [][]string{{"h", "i"}, {"a", "b"}}},
		{"many", strings.Repeat("1,2\n", 5000), CSVOptions{Header: true}, many(4999, []string{"1", "2"})},
	} {
		t.Run(x.name, func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			path := write(t, dir, x.name+".csv", x.text)
			r := CSVFile(c, path, 3, x.o)
			same(t, "whole", collect(t, r), x.want)
			if n := sizeOf(t, r); n != 1 {
				t.Errorf("%d partitions, want 1", n)
			}
			same(t, "zipped", collect(t, CSVFile(c, write(t, dir, x.name+".csv.gz", zipped(t, x.text)), 1, x.o)), x.want)
			x.o.NoQuotedNewlines = true
			for n := 1; n <= min(len(x.text), 9); n++ {
				r := CSVFile(c, path, n, x.o)
				same(t, fmt.Sprint("in ", n), collect(t, r), x.want)
				if got := sizeOf(t, r); got != n {
					t.Errorf("%d partitions, want %d", got, n)
				}
			}
		})
	}
}

func many(n int, record []string) [][]string {
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = record
	}
	return rows
}

func TestCSVFileOfAFolder(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		dir := t.TempDir()
		write(t, dir, "b.csv", "h\nb1\n\"b\n2\"\n")
		write(t, dir, "a.csv", "h\n\"a\r\n1\"\n")
		write(t, dir, "c.csv", "")
		write(t, dir, "_SUCCESS", "")
		want := [][][]string{{{"a\n1"}}, {{"b1"}, {"b\n2"}}, nil}
		same(t, "a partition a file", partsOf(t, CSVFile(c, dir, 7, CSVOptions{Header: true})), want)
		same(t, "glob", collect(t, CSVFile(c, filepath.Join(dir, "a*"), 1, CSVOptions{})), [][]string{{"h"}, {"a\n1"}})
		_, err := CSVFile(c, filepath.Join(dir, "none"), 1, CSVOptions{}).Collect(t.Context())
		wantErr(t, "missing", err, fs.ErrNotExist)
	})
}

func TestCSVFileNamesTheRecordAtFault(t *testing.T) {
	good := strings.Repeat("a,b\n", 1500)
	for _, x := range []struct {
		name, text   string
		o            CSVOptions
		line, offset int64
		want         error
	}{
		{"fields", good + "c\n", CSVOptions{}, 1501, 6000, csv.ErrFieldCount},
		{"bare quote", good + "c,d\"e\nf,g\n", CSVOptions{}, 1501, 6000, csv.ErrBareQuote},
		{"open quote", good + "c,\"d\ne,f\n" + good, CSVOptions{}, 1501, 6000, csv.ErrQuote},
		{"more than the first", "a,b\nc,d,e\n", CSVOptions{FieldsPerRecord: 2}, 2, 4, csv.ErrFieldCount},
		{"lines, fields", good + "c\n", CSVOptions{NoQuotedNewlines: true}, 1501, 6000, csv.ErrFieldCount},
		{"lines, bare quote", good + "c,d\"e\nf,g\n", CSVOptions{NoQuotedNewlines: true}, 1501, 6000, csv.ErrBareQuote},
		{"lines, open quote", good + "c,\"d\ne,f\n" + good, CSVOptions{NoQuotedNewlines: true}, 1501, 6000, csv.ErrQuote},
		{"lines, quoted line end", good + "c,\"d\ne\"\n" + good, CSVOptions{NoQuotedNewlines: true}, 1501, 6000, errQuotedNewline},
		{"lines, with an empty one", "a,b\r\n\r\nc\r\n", CSVOptions{NoQuotedNewlines: true}, 3, 7, csv.ErrFieldCount},
	} {
		t.Run(x.name, func(t *testing.T) {
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				path := write(t, t.TempDir(), "a.csv", x.text)
				_, err := CSVFile(c, path, 1, x.o).Collect(t.Context())
				var bad *DecodeError
				if !errors.As(err, &bad) || bad.Path != path || bad.Line != x.line || bad.Offset != x.offset {
					t.Fatalf("%v, want a DecodeError of line %d, byte %d", err, x.line, x.offset)
				}
				if x.want != errQuotedNewline {
					wantErr(t, "cause", err, x.want)
				} else if !strings.Contains(err.Error(), x.want.Error()) {
					t.Errorf("%v, want %v", err, x.want)
				}
			})
		})
	}
}

func TestCSVFileNamesThePartition(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	path := write(t, t.TempDir(), "a.csv", strings.Repeat("a,b\n", 10)+"c,d,e\n"+"a,b\n")
	_, err := CSVFile(c, path, 2, CSVOptions{NoQuotedNewlines: true}).Collect(t.Context())
	var bad *DecodeError
	if !errors.As(err, &bad) || bad.Partition != 1 || bad.Offset != 40 || bad.Line != 4 {
		t.Errorf("%#v, want partition 1, line 4, byte 40", bad)
	}
}

func TestCSVFileRefusesEveryCut(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	text := "a,b\n\"c\nd\",e\n"
	for name, whole := range map[string]string{"a.gz": zipped(t, text), "a.zst": zstdOf(t, text)} {
		for cut := 1; cut < len(whole); cut++ {
			path := write(t, dir, name, whole[:cut])
			rows, err := CSVFile(c, path, 1, CSVOptions{}).Collect(t.Context())
			var bad *FileError
			if !errors.As(err, &bad) || bad.Path != path || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut at %d: %q, %v; want a FileError", name, cut, rows, err)
			}
		}
	}
}

func TestCSVOptionsValidate(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	for _, o := range []CSVOptions{{Comma: '"'}, {Comma: '\n'}, {Comma: 0xd800}, {Comment: ','}, {Comma: ';', Comment: ';'}} {
		r := CSVFile(c, "x", 1, o)
		var build *BuildError
		if !errors.As(r.Err(), &build) || !errors.Is(r.Err(), ErrArgument) || build.Op != "csvFile" {
			t.Errorf("%+v: %v", o, r.Err())
		}
	}
	if err := CSVFile(c, "x", 0, CSVOptions{}).Err(); !errors.Is(err, ErrArgument) {
		t.Errorf("no partitions: %v", err)
	}
}
