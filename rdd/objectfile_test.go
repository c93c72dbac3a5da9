package rdd

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// rewrite fills testdata again, after a change of a format that came with a new version.
var rewrite = flag.Bool("rewrite", false, "write the golden files")

func TestSaveAsObjectFile(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		rows := make([]Pair[string, []float64], 5000)
		for i := range rows {
			rows[i] = kv(fmt.Sprint(i), []float64{float64(i), math.Inf(-1)})
		}
		rows[7].Value = nil
		for _, opts := range [][]SaveOption{nil, {Compress(Gzip)}, {Compress(Zstd)}} {
			dir := filepath.Join(t.TempDir(), "out")
			r := Parallelize(c, rows, 3)
			if err := r.SaveAsObjectFile(t.Context(), dir, opts...); err != nil {
				t.Fatal(err)
			}
			back := ObjectFile[Pair[string, []float64]](c, dir)
			same(t, "partitions", partsOf(t, back), partsOf(t, r))
			kept := back.Cache()
			for range 2 {
				same(t, "kept", collect(t, kept), rows)
			}
			if got := must(back.Take(t.Context(), 3)); len(got) != 3 {
				t.Errorf("take: %v", got)
			}
			// A function may change what it is given; the rows of later frames must not see it.
			changed := cleared(t, back)
			same(t, "changed", len(changed), len(rows))
			wantErr(t, "a folder that is there", r.SaveAsObjectFile(t.Context(), dir), fs.ErrExist)
		}
		dir := filepath.Join(t.TempDir(), "strings")
		lines := TextFile(c, write(t, t.TempDir(), "a", strings.Repeat("x\n", 3000)), 2)
		if err := lines.SaveAsObjectFile(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		same(t, "strings", collect(t, ObjectFile[string](c, dir)), collect(t, lines))
		empty := filepath.Join(t.TempDir(), "empty")
		if err := Parallelize(c, []struct{}{{}}, 2).SaveAsObjectFile(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		same(t, "an empty part", partsOf(t, ObjectFile[struct{}](c, empty)), [][]struct{}{nil, {{}}})
	})
}

// cleared overwrites the values of rows it is given.
func cleared(t *testing.T, r *RDD[Pair[string, []float64]]) []Pair[string, []float64] {
	return collect(t, Map(r, func(p Pair[string, []float64]) Pair[string, []float64] {
		clear(p.Value)
		return p
	}))
}

func TestObjectFileOfTypesWithoutAnEncoding(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	var build *BuildError
	var typ *codec.TypeError
	if err := ObjectFile[func()](c, "x").Err(); !errors.As(err, &build) || !errors.As(err, &typ) || build.Op != "objectFile" {
		t.Errorf("read: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	err := Map(Parallelize(c, upTo(2), 1), func(int) func() { return nil }).SaveAsObjectFile(t.Context(), dir)
	if !errors.As(err, &build) || !errors.As(err, &typ) || build.Op != "saveAsObjectFile" || !strings.HasPrefix(build.Site, "objectfile_test.go:") {
		t.Errorf("write: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

// object is an object file of frames of int32 rows.
func object(t testing.TB, frames ...[]int32) []byte {
	t.Helper()
	rows := must(codec.For[int32]())
	var b bytes.Buffer
	o, err := newObjectWriter(&b, rows.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if err := o.add(0, len(f), func(dst []byte, from, to int) ([]byte, error) { return rows.Append(dst, f[from:to]) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readObject is the rows of a file, and why there are no more.
func readObject(t testing.TB, path string) ([]int32, error) {
	c, _ := inlineContext(t, Options{})
	got := []int32{}
	r := ObjectFile[int32](c, path)
	n, err := r.NumPartitions()
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	err = r.computed(newTask(t.Context(), &inlineEnv{}), 0, func(chunk []int32) error {
		got = append(got, chunk...)
		return nil
	})
	return got, err
}

func TestObjectFileRefusesEveryCutAndEveryFlippedBit(t *testing.T) {
	dir := t.TempDir()
	whole := object(t, []int32{1, -2}, []int32{3})
	got, err := readObject(t, write(t, dir, "whole", string(whole)))
	same(t, "whole", got, []int32{1, -2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		path := write(t, dir, "cut", string(whole[:cut]))
		_, err := readObject(t, path)
		var bad *FileError
		if !errors.As(err, &bad) || bad.Path != path || bad.Offset != int64(cut) || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("cut at %d of %d: %v, want a FileError of that byte and io.ErrUnexpectedEOF", cut, len(whole), err)
		}
	}
	for i := range len(whole) * 8 {
		data := bytes.Clone(whole)
		data[i/8] ^= 1 << (i % 8)
		path := write(t, dir, "flip", string(data))
		if _, err := readObject(t, path); !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("bit %d flipped: %v, want codec.ErrCorrupt", i, err)
		}
	}
	for name, data := range map[string][]byte{
		"bytes behind": append(bytes.Clone(whole), 0), "twice": append(bytes.Clone(whole), whole...), "text": []byte(strings.Repeat("text\n", 20)),
	} {
		if _, err := readObject(t, write(t, dir, "x", string(data))); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: %v, want codec.ErrCorrupt", name, err)
		}
	}
}

func TestObjectFileRefusesLostAndRepeatedFrames(t *testing.T) {
	dir := t.TempDir()
	a, both := object(t, []int32{1}), object(t, []int32{1}, []int32{2})
	header, end := len(object(t))-objectTrailerSize, len(a)-objectTrailerSize
	frame := a[header:end]
	for name, data := range map[string][]byte{
		"a frame is lost":        slices.Concat(both[:end], both[len(both)-objectTrailerSize:]),
		"a frame is there twice": slices.Concat(a[:end], frame, a[end:]),
	} {
		if _, err := readObject(t, write(t, dir, "x", string(data))); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: %v, want codec.ErrCorrupt", name, err)
		}
	}
}

func TestObjectFileOfAnotherType(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	path := write(t, t.TempDir(), "a.obj", string(object(t)))
	_, err := ObjectFile[Pair[string, int]](c, path).Collect(t.Context())
	if !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "the rows are int32, asked for are struct<Key:string,Value:int>") {
		t.Errorf("%v, want both types named", err)
	}
}

// What asks for more room than the file can fill gets none.
func TestObjectFileBoundsWhatItAllocates(t *testing.T) {
	dir := t.TempDir()
	head := object(t)[:len(object(t))-objectTrailerSize]
	name := binary.LittleEndian.AppendUint32([]byte(objectMagic+"\x01\x00"), maxObjectName)
	longer := binary.LittleEndian.AppendUint32([]byte(objectMagic+"\x01\x00"), maxObjectName+1)
	frame := func(rows, size uint32) []byte {
		b := binary.LittleEndian.AppendUint32([]byte{objectFrame}, rows)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, size), 0)
		return slices.Concat(head, sealBytes(b))
	}
	for what, data := range map[string][]byte{
		"name": name, "longer name": longer, "large frame": frame(1, maxObjectFrame), "larger frame": frame(1, maxObjectFrame+1),
		"largest frame": frame(1, math.MaxUint32), "no rows": frame(0, 10), "many rows": frame(math.MaxUint32, 10),
	} {
		path := write(t, dir, "x", string(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readObject(t, path)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: %v, want codec.ErrCorrupt", what, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes for a file of %d", what, n, len(data))
		}
	}
}

func TestObjectWriterCutsLargeFrames(t *testing.T) {
	rows := must(codec.For[string]())
	text := []string{"a", strings.Repeat("b", 60), strings.Repeat("c", 60), "d", "e"}
	encode := func(dst []byte, from, to int) ([]byte, error) { return rows.Append(dst, text[from:to]) }
	var b bytes.Buffer
	o := must(newObjectWriter(&b, rows.Name()))
	o.limit = 100
	if err := errors.Join(o.add(0, len(text), encode), o.close()); err != nil {
		t.Fatal(err)
	}
	if o.frames < 2 || o.rows != 5 {
		t.Errorf("%d frames of %d rows", o.frames, o.rows)
	}
	c, _ := inlineContext(t, Options{})
	same(t, "rows", collect(t, ObjectFile[string](c, write(t, t.TempDir(), "a", b.String()))), text)
	o.limit = 50
	wantErr(t, "a row that fits no frame", o.add(0, len(text), encode), ErrArgument)
	_, err := newObjectWriter(&b, strings.Repeat("x", maxObjectName+1))
	wantErr(t, "a name that fits no header", err, ErrArgument)
}

// The bytes of version 1, field by field as the page lists them.
func TestObjectFormat_has_not_changed(t *testing.T) {
	data := object(t, []int32{1, -2}, []int32{3})
	path := filepath.Join("testdata", "objectfile", "v1.txt")
	text := hexLines(data)
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "bytes", text, string(want))
	old := must(hex.DecodeString(strings.ReplaceAll(string(want), "\n", "")))
	got, err := readObject(t, write(t, t.TempDir(), "a", string(old)))
	same(t, "rows", got, []int32{1, -2, 3})
	if err != nil {
		t.Error(err)
	}
	// By hand: the header, and the head of the first frame.
	sum := func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	header := []byte("LOBJ\x01\x00\x05\x00\x00\x00int32")
	payload := must(must(codec.For[int32]()).Append(nil, []int32{1, -2}))
	head := slices.Concat([]byte{1, 2, 0, 0, 0, byte(len(payload)), 0, 0, 0}, sum(payload))
	begin := slices.Concat(header, sum(header), head, sum(head), payload)
	if !bytes.HasPrefix(old, begin) {
		t.Errorf("begins % x, want % x", old[:len(begin)], begin)
	}
	end := slices.Concat([]byte{2, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0})
	if end = slices.Concat(end, sum(end)); !bytes.HasSuffix(old, end) {
		t.Errorf("does not end % x", end)
	}
}

// hexLines returns b in hexadecimal, 32 bytes a line.
func hexLines(b []byte) string {
	var s strings.Builder
	for line := range slices.Chunk(b, 32) {
		s.WriteString(hex.EncodeToString(line) + "\n")
	}
	return s.String()
}
