package parquetfiles_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// raw writes rows as they are, under the name of this package's format.
type raw struct{ w io.Writer }

func (r raw) Encode(rows [][]byte) (int, error) {
	for i, row := range rows {
		if _, err := r.w.Write(row); err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

func (raw) Close() error { return nil }

// committed commits a file of data with so many rows, whatever it is.
func committed(t testing.TB, data []byte, rows int) (fsys files.FS) {
	t.Helper()
	d := disk.New()
	s := files.New("/out", files.Options[[]byte]{FS: d, Format: files.Format[[]byte]{Name: "parquet", Suffix: ".parquet",
		NewEncoder: func(w io.Writer) (files.Encoder[[]byte], error) { return raw{w}, nil }}})
	part := make([][]byte, rows)
	part[0] = data
	put(t, s, batch(0), part)
	return d
}

const rawName = "/out/app/out/data/00000000000000000000/part-00000-a.parquet"

// look reads a file in all ways. A panic ends the test.
func look(t testing.TB, fsys files.FS) (err error) {
	t.Helper()
	o := files.ReadOptions{FS: fsys, Lines: parquetfiles.Lines}
	for _, e := range parquetfiles.Read[small]("/out", o) {
		err = errors.Join(err, e)
	}
	for _, e := range files.Read("/out", o) {
		err = errors.Join(err, e)
	}
	r, e := parquetfiles.Verify("/out", o)
	err = errors.Join(err, e, r.Err())
	if err != nil && !strings.Contains(err.Error(), rawName) {
		t.Fatalf("the file is not named: %v", err)
	}
	return err
}

type small struct {
	Word string   `parquet:"word,dict"`
	Tags []string `parquet:"tags,list"`
	N    *int64   `parquet:"n,optional"`
}

// sample returns a file of three rows.
func sample(t testing.TB) []byte {
	t.Helper()
	dir, n := t.TempDir(), int64(5)
	put(t, parquetfiles.New[small](dir), batch(0), []small{{"a", []string{"x", "y"}, nil}, {"b", nil, &n}, {"a", []string{"z"}, &n}})
	data, err := os.ReadFile(filepath.Join(dir, "app/out/data/00000000000000000000/part-00000-a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHostileFilesEndInAnErrorThatNamesThem(t *testing.T) {
	data := sample(t)
	if err := look(t, committed(t, data, 3)); err != nil {
		t.Fatal(err)
	}
	if err := look(t, committed(t, data, 4)); !errors.Is(err, files.ErrDamaged) {
		t.Errorf("another number of rows: %v", err)
	}
	refused := 0
	for at := range data {
		for _, bit := range []byte{1, 0x10, 0x80, 0xff} {
			broken := append([]byte(nil), data...)
			broken[at] ^= bit
			if look(t, committed(t, broken, 3)) != nil {
				refused++
			}
		}
		if err := look(t, committed(t, data[:at], 3)); !errors.Is(err, files.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", at, err)
		}
	}
	if refused < len(data) {
		t.Errorf("%d of %d changes were noticed", refused, 4*len(data))
	}
	// A footer that promises more than there is.
	huge := append([]byte("PAR1"), 0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0) // field 2: a list of two thousand million structs
	huge = binary.LittleEndian.AppendUint32(huge, 8)
	huge = append(huge, "PAR1"...)
	if err := look(t, committed(t, huge, 3)); !errors.Is(err, files.ErrDamaged) {
		t.Errorf("a huge list: %v", err)
	}
}

func TestFilesChangedAtRandomEndInNoPanic(t *testing.T) {
	data := sample(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 1500 {
		b := append([]byte(nil), data...)
		for range 1 + r.IntN(6) {
			switch at := r.IntN(len(b)); r.IntN(4) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1:
				b[at] = byte(r.IntN(256))
			case 2:
				b[at] = []byte{0, 0xff, 0x7f, 0x80, 1, 0xfc}[r.IntN(6)]
			case 3:
				b = slices.Insert(b, at, byte(r.IntN(256)))
			}
		}
		_ = look(t, committed(t, b, 3))
	}
}

func TestVerifyNamesFilesThatAreNotWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	put(t, parquetfiles.New[count](dir), batch(0), []count{{"a", 1}}, []count{{"b", 2}})
	other := batch(0)
	other.Output = "text"
	put(t, files.Text(dir), other, []string{"x"})
	r, err := parquetfiles.Verify(dir, files.ReadOptions{})
	if err != nil || r.Err() != nil || r.Files != 3 || r.Rows != 3 {
		t.Fatalf("%v, %v, %v", r, r.Err(), err)
	}
	name := filepath.Join(dir, "app/out/data/00000000000000000000/part-00001-a.parquet")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err = parquetfiles.Verify(dir, files.ReadOptions{})
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Error(), name) {
		t.Errorf("%v, %v", r.Problems, err)
	}
	if rows, err := rowsOf[count](dir, files.ReadOptions{Output: "out"}); !errors.Is(err, files.ErrDamaged) || len(rows) > 0 {
		t.Errorf("%d rows of a damaged batch, %v", len(rows), err)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add(sample(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			_ = look(t, committed(t, data, 3))
		}
	})
}
