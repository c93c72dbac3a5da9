package executor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
)

func TestIndex(t *testing.T) {
	t.Run("C40_offsets", func(t *testing.T) {
		index := appendIndex(nil, []int64{4, 0, 6})
		var got []uint64
		for i := 0; i < len(index); i += 8 {
			got = append(got, binary.BigEndian.Uint64(index[i:]))
		}
		if diff := cmp.Diff(got, []uint64{0, 4, 4, 10}); diff != "" {
			t.Errorf("offsets (-got +want):\n%s", diff)
		}
		lengths, total, ok := lengthsOf(index, 3)
		if diff := cmp.Diff(lengths, []int64{4, 0, 6}); diff != "" || total != 10 || !ok {
			t.Errorf("lengths (-got +want), total %d:\n%s", total, diff)
		}
	})
	for _, bad := range [][]byte{nil, appendIndex(nil, []int64{1}), appendIndex(nil, []int64{1, -1}),
		appendIndex(nil, []int64{1, 2})[:23], appendIndex([]byte{1}, []int64{1, 2})[:24]} {
		if _, _, ok := lengthsOf(bad, 2); ok {
			t.Errorf("% x is an index of two segments", bad)
		}
	}
}

// raw is a codec of blocks that are strings.
type raw struct{}

func (raw) Encode(b lineage.Block) ([]byte, error)    { return []byte(b.(string)), nil }
func (raw) Decode(data []byte) (lineage.Block, error) { return string(data), nil }
func (raw) Size(b lineage.Block) int64                { return int64(len(b.(string))) }

// pair writes a map output of the given blocks by reducer.
func pair(t *testing.T, segments [][]string) *file {
	t.Helper()
	dir := t.TempDir()
	d := newDisk(func() (string, error) { return dir, nil }, nil)
	held := make([][]Held, len(segments))
	for i, blocks := range segments {
		for _, b := range blocks {
			held[i] = append(held[i], hold(raw{}, b))
		}
	}
	f, lengths, err := d.writeOutput(&stored{codec: raw{}}, held)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range lengths {
		if (n == 0) != (len(segments[i]) == 0) {
			t.Errorf("segment %d of %d blocks takes %d bytes", i, len(segments[i]), n)
		}
	}
	return f
}

func readAll(f *file, segment, first int) (got []string, damage error) {
	damage, _ = f.read(segment, first, func(h Held) error {
		got = append(got, string(h.Data))
		return nil
	})
	return got, damage
}

var output = [][]string{{"one", "two"}, nil, {"", "three"}, {"four"}, nil}

func TestMapFiles(t *testing.T) {
	f := pair(t, output)
	for i, want := range output {
		for first := range len(want) + 1 {
			got, err := readAll(f, i, first)
			if diff := cmp.Diff(got, append([]string(nil), want[first:]...)); diff != "" || err != nil {
				t.Errorf("segment %d from %d: %v\n%s", i, first, err, diff)
			}
		}
	}
	stop := errors.New("stop")
	if damage, err := f.read(0, 0, func(Held) error { return stop }); err != stop || damage != nil {
		t.Errorf("got %v and %v, want the reader's error as it is", damage, err)
	}
	f.unref()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), "*")); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
}

// TestDamagedMapFiles damages every byte of data and index, and cuts them at each: a reader gets what was
// written, or is told. Where all of a bucket is gone, as the index has it, it gets nothing, which the caller
// knows to be wrong.
func TestDamagedMapFiles(t *testing.T) {
	check := func(t *testing.T, f *file, what string, mustFail bool) {
		t.Helper()
		failed := false
		for i, want := range output {
			got, err := readAll(f, i, 0)
			var fe *FileError
			if err != nil && !errors.As(err, &fe) {
				t.Errorf("%s: %v names no file", what, err)
			}
			failed = failed || err != nil || len(got) == 0 && len(want) > 0
			if len(got) > len(want) || !cmp.Equal(got, append([]string(nil), want[:len(got)]...)) ||
				err == nil && len(got) > 0 && len(got) < len(want) {
				t.Errorf("%s: segment %d gives %q and %v, want %q or an error", what, i, got, err, want)
			}
		}
		if mustFail && !failed {
			t.Errorf("%s: nobody noticed", what)
		}
	}
	f := pair(t, output)
	for _, path := range []string{f.path, f.index} {
		name := filepath.Ext(path)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(data []byte) {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range whole {
			for _, flip := range []byte{1, 0x80} {
				data := bytes.Clone(whole)
				data[i] ^= flip
				write(data)
				check(t, f, fmt.Sprintf("byte %d of %s ^ %02x", i, name, flip), true)
			}
			write(whole[:i])
			check(t, f, fmt.Sprintf("%s cut to %d bytes", name, i), true)
		}
		write(append(bytes.Clone(whole), 0))
		check(t, f, name+" with a byte more", path == f.path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check(t, f, name+" removed", true)
		write(whole)
		check(t, f, name+" restored", false)
	}
	// An index that moves a border to another frame.
	index := appendIndex(nil, []int64{frameHeader + 3, 0, 1 << 20, 0, 0})
	if err := os.WriteFile(f.index, index, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range output {
		if got, err := readAll(f, i, 0); err == nil && len(got) > 0 {
			t.Errorf("segment %d of a wrong index gives %q", i, got)
		}
	}
}

func TestFrameLengthsAreCheckedBeforeMakingRoom(t *testing.T) {
	h := header(0, 0, 1<<60, 0)
	damage, _ := readFrames(io.NewSectionReader(bytes.NewReader(h[:]), 0, frameHeader), 0, 0, -1, nil)
	if !errors.Is(damage, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", damage)
	}
}

func TestPublish(t *testing.T) {
	t.Run("H5_a_valid_pair_stays", func(t *testing.T) {
		dir := t.TempDir()
		d := newDisk(func() (string, error) { return dir, nil }, nil)
		st := &stored{codec: raw{}, task: 7}
		write := func(s string) (*file, []int64) {
			f, lengths, err := d.writeOutput(st, [][]Held{{hold(raw{}, s)}, nil})
			if err != nil {
				t.Fatal(err)
			}
			return f, lengths
		}
		first, lengths := write("first")
		second, same := write("another")
		if got, err := readAll(second, 0, 0); !cmp.Equal(got, []string{"first"}) || err != nil || !cmp.Equal(lengths, same) {
			t.Errorf("got %q and %v, lengths %v and %v", got, err, lengths, same)
		}
		first.unref()
		if got, err := readAll(second, 0, 0); !cmp.Equal(got, []string{"first"}) || err != nil {
			t.Errorf("after the first one has gone: %q, %v", got, err)
		}
		if err := os.Truncate(second.index, 5); err != nil {
			t.Fatal(err)
		}
		third, _ := write("third")
		if got, err := readAll(third, 0, 0); !cmp.Equal(got, []string{"third"}) || err != nil {
			t.Errorf("in the place of a damaged one: %q, %v", got, err)
		}
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(left) != 2 {
			t.Errorf("%v are left, want a pair", left)
		}
	})
	t.Run("nothing_before_it_is_needed_and_nothing_after_close", func(t *testing.T) {
		asked := 0
		dir := filepath.Join(t.TempDir(), "x")
		d := newDisk(func() (string, error) { asked++; return dir, os.Mkdir(dir, 0o700) }, nil)
		if asked != 0 {
			t.Error("the folder was asked for early")
		}
		f, err := d.temp("a")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := d.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || asked != 1 {
			t.Errorf("the folder is still there: %v, asked for %d times", err, asked)
		}
		var fe *FileError
		if _, err := d.temp("b"); !errors.As(err, &fe) || !errors.Is(err, errClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// FuzzFrames reads segments and indexes of any bytes: it does not panic, and makes no room for what is not there.
func FuzzFrames(f *testing.F) {
	var whole bytes.Buffer
	_, _ = writeFrame(&whole, 0, 0, []byte("one"), sumOf([]byte("one")))
	_, _ = writeEnd(&whole, 0, 1)
	f.Add(whole.Bytes())
	f.Add(appendIndex(nil, []int64{4, 0, 6}))
	f.Fuzz(func(t *testing.T, data []byte) {
		total := 0
		damage, _ := readFrames(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), 0, 0, -1, func(h Held) error {
			total += frameHeader + len(h.Data)
			return nil
		})
		if damage == nil && total+frameHeader != len(data) {
			t.Errorf("%d of %d bytes were read", total, len(data))
		}
		if lengths, sum, ok := lengthsOf(data, max(len(data)/8-1, 0)); ok && !bytes.Equal(appendIndex(nil, lengths), data) {
			t.Errorf("lengths %v, in all %d, of % x", lengths, sum, data)
		}
	})
}
