package parquetfiles_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
	"github.com/leat-io/leat/dstream/sink/sinktest"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

type count struct {
	Word string `parquet:"word"`
	N    int64  `parquet:"n"`
}

func counted(i int) count { return count{"w" + strconv.Itoa(i), int64(i)} }

func rowsOf[T any](dir string, o files.ReadOptions) ([]sinktest.Row[T], error) {
	var rows []sinktest.Row[T]
	for row, err := range parquetfiles.Read[T](dir, o) {
		if errors.Is(err, os.ErrNotExist) && len(rows) == 0 {
			return nil, nil // no Begin yet
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, sinktest.Row[T](row))
	}
	return rows, nil
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(t *testing.T) (string, files.FS)
	}{
		{"os", func(t *testing.T) (string, files.FS) { return t.TempDir(), nil }},
		{"disk", func(*testing.T) (string, files.FS) { return "/out", disk.New() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			sinktest.Run(t, func(t *testing.T) sinktest.Target[count] {
				dir, fsys := c.open(t)
				open := func() sink.Sink[count] {
					return files.New(dir, files.Options[count]{Format: parquetfiles.Format[count](parquetfiles.Options{}), FS: fsys})
				}
				return sinktest.Target[count]{Sink: open(), Reopen: open, Value: counted, Rows: func() ([]sinktest.Row[count], error) {
					return rowsOf[count](dir, files.ReadOptions{FS: fsys})
				}}
			})
		})
	}
}

func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Time: id * 1000, Epoch: 1, Try: 1}
}

// put stages and commits a batch.
func put[T any](t testing.TB, s sink.Sink[T], b sink.Batch, parts ...[]T) {
	t.Helper()
	if err := tryPut(t, s, b, parts...); err != nil {
		t.Fatal(err)
	}
}

func tryPut[T any](t testing.TB, s sink.Sink[T], b sink.Batch, parts ...[]T) error {
	ctx := t.Context()
	if err := s.Begin(ctx, b, len(parts)); err != nil {
		return err
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		w, err := s.Part(ctx, b, i, "a")
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			notes[i], err = w.Finish(ctx)
		}
		if err != nil {
			return err
		}
	}
	staged, err := s.Seal(ctx, b, notes)
	if err != nil {
		return err
	}
	return s.Commit(ctx, b, staged)
}

func linesOf(dir string) (string, error) {
	var out strings.Builder
	for row, err := range files.Read(dir, files.ReadOptions{Lines: parquetfiles.Lines}) {
		if err != nil {
			return out.String(), err
		}
		fmt.Fprintf(&out, "%d %d %s\n", row.Batch, row.Partition, row.Line)
	}
	return out.String(), nil
}

type inner struct {
	A int32    `parquet:"a"`
	B []string `parquet:"b"`
}

type everything struct {
	Text  string           `parquet:"text"`
	Enum  string           `parquet:"enum,enum"`
	Raw   []byte           `parquet:"raw"`
	Bool  bool             `parquet:"bool"`
	I32   int32            `parquet:"i32"`
	U32   uint32           `parquet:"u32"`
	U64   uint64           `parquet:"u64"`
	F32   float32          `parquet:"f32"`
	F64   float64          `parquet:"f64"`
	Maybe *int64           `parquet:"maybe,optional"`
	Time  time.Time        `parquet:"time,timestamp(microsecond)"`
	Date  int32            `parquet:"date,date"`
	Cents int64            `parquet:"cents,decimal(2:9)"`
	ID    [16]byte         `parquet:"id,uuid"`
	JSON  string           `parquet:"json,json"`
	Tags  []string         `parquet:"tags,list"`
	Plain []int64          `parquet:"plain"`
	Group inner            `parquet:"group"`
	List  []inner          `parquet:"list,list"`
	Map   map[string]int64 `parquet:"map"`
	Other map[int32]inner  `parquet:"other"`
}

func TestLinesShowEveryKindOfColumn(t *testing.T) {
	dir := t.TempDir()
	seven := int64(7)
	rows := []everything{{
		Text: "a\"<é>\x01", Enum: "red", Raw: []byte{0, 255}, Bool: true, I32: -1, U32: math.MaxUint32, U64: math.MaxUint64, F32: 0.1, F64: 1e300,
		Maybe: &seven, Time: time.Date(1969, 12, 31, 23, 59, 59, 5000, time.UTC), Date: -1, Cents: -5, ID: [16]byte{0: 1, 15: 255},
		JSON: `{"x": [1, 2]}`, Tags: []string{"p", "q"}, Plain: []int64{1, 2, 3}, Group: inner{4, []string{"r", "s"}},
		List: []inner{{1, nil}, {2, []string{"t"}}, {3, []string{"u", "v"}}}, Map: map[string]int64{"k": 1}, Other: map[int32]inner{9: {8, nil}},
	}, {F64: math.NaN(), Cents: 123456, JSON: "no", Time: time.UnixMicro(0)}}
	put(t, parquetfiles.New[everything](dir), batch(0), rows[:1], rows[1:])
	got, err := linesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := `0 0 {"text":"a\"<é>\u0001","enum":"red","raw":"AP8=","bool":true,"i32":-1,"u32":4294967295,"u64":18446744073709551615,"f32":0.1,"f64":1e+300,` +
		`"maybe":7,"time":"1969-12-31T23:59:59.000005Z","date":"1969-12-31","cents":-0.05,"id":"01000000-0000-0000-0000-0000000000ff",` +
		`"json":{"x":[1,2]},"tags":["p","q"],"plain":[1,2,3],"group":{"a":4,"b":["r","s"]},` +
		`"list":[{"a":1,"b":[]},{"a":2,"b":["t"]},{"a":3,"b":["u","v"]}],"map":{"k":1},"other":[{"key":9,"value":{"a":8,"b":[]}}]}` + "\n" +
		`0 1 {"text":"","enum":"","raw":"","bool":false,"i32":0,"u32":0,"u64":0,"f32":0,"f64":"NaN",` +
		`"maybe":null,"time":"1970-01-01T00:00:00Z","date":"1970-01-01","cents":1234.56,"id":"00000000-0000-0000-0000-000000000000",` +
		`"json":"no","tags":[],"plain":[],"group":{"a":0,"b":[]},"list":[],"map":{},"other":[]}` + "\n"
	if diff := cmp.Diff(strings.Split(got, ","), strings.Split(want, ",")); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
	back, err := rowsOf[everything](dir, files.ReadOptions{})
	if err != nil || len(back) != 2 || *back[0].Value.Maybe != 7 || !slices.Equal(back[0].Value.List[2].B, []string{"u", "v"}) {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

func TestRowGroupsAreBoundedByBytesAndRowsKeepTheirValues(t *testing.T) {
	type row struct {
		N    int64
		Text string
		Many []int64
	}
	dir := t.TempDir()
	s := files.New(dir, files.Options[row]{Format: parquetfiles.Format[row](parquetfiles.Options{RowGroupBytes: 64 << 10})})
	rows := make([]row, 20_000)
	x := uint64(1)
	for i := range rows {
		x = x*6364136223846793005 + 1442695040888963407 // so that it does not compress
		rows[i] = row{int64(x), strconv.FormatUint(x, 36), []int64{int64(i), int64(x >> 7)}}
	}
	put(t, s, batch(0), rows)
	back, err := rowsOf[row](dir, files.ReadOptions{})
	if err != nil || len(back) != len(rows) {
		t.Fatalf("%d rows, %v", len(back), err)
	}
	for i, r := range back { // all of them are still what they were when they were returned
		if diff := cmp.Diff(r.Value, rows[i]); diff != "" {
			t.Fatalf("row %d:\n%s", i, diff)
		}
	}
	f, err := os.Open(filepath.Join(dir, "app/out/data/00000000000000000000/part-00000-a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range p.Metadata().RowGroups {
		if g.TotalCompressedSize > 192<<10 {
			t.Errorf("row group %d of %d bytes", i, g.TotalCompressedSize)
		}
	}
	if n := len(p.Metadata().RowGroups); n < 5 {
		t.Errorf("%d row groups", n)
	}
	if codec := p.Metadata().RowGroups[0].Columns[0].MetaData.Codec.String(); codec != "ZSTD" {
		t.Errorf("codec %s", codec)
	}
}

func TestReadTakesTheColumnsThatAreThere(t *testing.T) {
	dir := t.TempDir()
	put(t, parquetfiles.New[count](dir), batch(0), []count{{"a", 1}})
	type part struct {
		N     int64  `parquet:"n"`
		Added string `parquet:"added,optional"`
	}
	rows, err := rowsOf[part](dir, files.ReadOptions{})
	if err != nil || len(rows) != 1 || rows[0].Value != (part{N: 1}) {
		t.Errorf("%+v, %v", rows, err)
	}
	for range parquetfiles.Read[count](dir, files.ReadOptions{}) {
		break // the reader may stop at any row
	}
	for range files.Read(dir, files.ReadOptions{Lines: parquetfiles.Lines}) {
		break
	}
}

func TestTypesWithoutAFormAreRefused(t *testing.T) {
	type channel struct{ C chan int }
	type none struct{ _ int }
	type twice struct {
		A int64 `parquet:"x"`
		B int64 `parquet:"x"`
	}
	dir := t.TempDir()
	for name, err := range map[string]error{
		"string":   tryPut(t, parquetfiles.New[string](dir), batch(0), []string{"a"}),
		"channel":  tryPut(t, parquetfiles.New[channel](dir), batch(0), []channel{{}}),
		"no field": tryPut(t, parquetfiles.New[none](dir), batch(0), []none{{}}),
		"twice":    tryPut(t, parquetfiles.New[twice](dir), batch(0), []twice{{}}),
		"options": tryPut(t, files.New(dir, files.Options[count]{Format: parquetfiles.Format[count](parquetfiles.Options{RowGroupBytes: -1})}),
			batch(0), []count{{}}),
	} {
		if !errors.Is(err, files.ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
	put(t, files.Text(dir), batch(0), []string{"a"})
	if _, err := rowsOf[count](dir, files.ReadOptions{}); !errors.Is(err, files.ErrFormat) {
		t.Errorf("lines read as Parquet: %v", err)
	}
	if _, err := rowsOf[string](dir, files.ReadOptions{}); !errors.Is(err, files.ErrFormat) {
		t.Errorf("read as strings: %v", err)
	}
}
