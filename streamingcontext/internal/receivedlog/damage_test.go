package receivedlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// folder is a log of three segments with four records each.
type folder struct {
	disk   *memFS
	at     []receivedlog.Address
	blocks []string
}

func newFolder(t testing.TB) folder {
	t.Helper()
	f := folder{disk: newMemFS(), blocks: numbered(10, 21)}
	log := open(t, "received", receivedlog.Options{SegmentBytes: 250, FS: f.disk})
	f.at = put(t, log, f.blocks...)
	if files, _ := log.Segments(); files != 3 {
		t.Fatalf("%d segments", files)
	}
	return f
}

// clone returns another folder with the same files.
func (f folder) clone() folder {
	f.disk = f.disk.crash("none", nil)
	return f
}

func (f folder) open(t testing.TB) *receivedlog.Log {
	t.Helper()
	return open(t, "received", receivedlog.Options{FS: f.disk})
}

func (f folder) path(segment int) string { return fmt.Sprintf("received/%016d.log", segment) }

func (f folder) read(segment int) []byte { return slices.Clone(f.disk.files[f.path(segment)].data) }

func (f folder) write(segment int, data []byte) {
	f.disk.files[f.path(segment)] = &memFile{fs: f.disk, data: slices.Clone(data)}
}

// check opens the log, and fails unless every record is either found as it was or named: by Scan with its file and
// offset, or by Torn.
func (f folder) check(t *testing.T, what string) {
	t.Helper()
	log, err := receivedlog.Open("received", receivedlog.Options{FS: f.disk})
	if err != nil {
		if version, ok := errors.AsType[*receivedlog.VersionError](err); !ok || version.File == "" {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	defer log.Close()
	var got []string
	err = log.Scan(t.Context(), func(e receivedlog.Entry) error {
		block, err := log.Read(e.Address)
		got = append(got, string(block))
		return err
	})
	lost, _ := errors.AsType[*receivedlog.ScanError](err)
	if err != nil && lost == nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for i, a := range f.at {
		path := f.path(int(a.Segment))
		named := slices.ContainsFunc(log.Torn(), func(torn receivedlog.Torn) bool { return torn.File == path && torn.Offset <= a.Offset })
		if lost != nil && !named {
			named = slices.ContainsFunc(lost.Damage, func(d *receivedlog.DamageError) bool {
				return d.File == path && (d.Length == 0 || d.Offset <= a.Offset && a.Offset < d.Offset+d.Length)
			})
		}
		if file := f.disk.files[path]; file != nil && a.Segment == f.at[len(f.at)-1].Segment {
			// Only Read can tell that a log that ends with a record had more.
			named = named || a.Offset >= int64(len(file.data))
		}
		block, err := log.Read(a)
		found := slices.Contains(got, f.blocks[i])
		switch {
		case err == nil && string(block) != f.blocks[i]:
			t.Errorf("%s: %v is read as %q", what, a, block)
		case (err == nil) != found:
			t.Errorf("%s: %v: scanned %v, read with %v", what, a, found, err)
		case err != nil && !named:
			t.Errorf("%s: %v is lost and not named: %v, torn %v", what, a, err, log.Torn())
		case err != nil && !strings.Contains(err.Error(), filepath.Base(path)):
			t.Errorf("%s: %v does not name the file", what, err)
		}
	}
	for _, block := range got {
		if !slices.Contains(f.blocks, block) {
			t.Errorf("%s: %q was never written", what, block)
		}
	}
}

// Damage in the middle is an error, a last record cut short is not.
// Shows C-12.
func TestDamage_C12(t *testing.T) {
	build := func(change func(data []byte) []byte) (*receivedlog.Log, []receivedlog.Address) {
		f := folder{disk: newMemFS()}
		at := put(t, f.open(t), numbered(1, 10)...)
		f.write(1, change(f.read(1)))
		return f.open(t), at
	}
	flip := func(data []byte) []byte {
		data[bytes.Index(data, []byte("block 5"))+10]++
		return data
	}
	log, at := build(flip)
	got, err := held(t, log)
	lost, ok := errors.AsType[*receivedlog.ScanError](err)
	if diff := cmp.Diff(append(numbered(1, 4), numbered(6, 10)...), got); diff != "" || !ok || lost.Total != 1 || lost.Damage[0].Offset != at[4].Offset {
		t.Errorf("records (-want +got):\n%s\n%v", diff, err)
	}
	_, err = log.Read(at[4])
	if damage, ok := errors.AsType[*receivedlog.DamageError](err); !ok || damage.Offset != at[4].Offset || filepath.Base(damage.File) != "0000000000000001.log" {
		t.Errorf("read: %v", err)
	}

	log, at = build(func(data []byte) []byte { return data[:len(data)-1] })
	wantHeld(t, log, numbered(1, 9)...)
	if torn := log.Torn(); len(torn) != 1 || torn[0].Offset != at[9].Offset || torn[0].Records != 0 || torn[0].String() == "" {
		t.Errorf("torn: %v", torn)
	}
	if _, err := log.Read(at[9]); err == nil {
		t.Error("a record that was cut short is read")
	}
	put(t, log, "next")
	wantHeld(t, log, append(numbered(1, 9), "next")...)
}

// A file that ends early loses what was behind, by name where that was acknowledged, and the files behind it are read.
// Shows L2.
func TestFilesCutShort_L2(t *testing.T) {
	whole := newFolder(t)
	for segment := 1; segment <= 3; segment++ {
		data := whole.read(segment)
		for n := range data {
			f := whole.clone()
			f.write(segment, data[:n])
			f.check(t, fmt.Sprintf("segment %d of %d bytes", segment, n))
			if segment == 1 && n == 1 {
				log := f.open(t)
				if got, err := held(t, log); !slices.Equal(got, whole.blocks[4:]) || err == nil {
					t.Errorf("behind a file of one byte: %v, %v", got, err)
				}
			}
		}
	}
}

func TestBitsFlipped(t *testing.T) {
	f := newFolder(t)
	for segment := 1; segment <= 3; segment++ {
		data := f.read(segment)
		for i := range data {
			bad := slices.Clone(data)
			bad[i] ^= 1 << (i % 8)
			f.write(segment, bad)
			f.check(t, fmt.Sprintf("segment %d byte %d", segment, i))
			f.write(segment, data) // also what was cut off
		}
	}
}

func TestTailsOfCrashes(t *testing.T) {
	f := newFolder(t)
	data := f.read(3)
	for name, tail := range map[string][]byte{
		"zeros":         make([]byte, 4096),
		"garbage":       bytes.Repeat([]byte{0xf1, 'r', 'c', 'v', 3}, 100),
		"a copy":        data[40:],
		"another's":     f.read(2),
		"a record, cut": data[40:60],
	} {
		f.write(3, append(slices.Clone(data), tail...))
		log := f.open(t)
		wantHeld(t, log, f.blocks...)
		if torn := log.Torn(); len(torn) != 1 || torn[0].Bytes != int64(len(tail)) || torn[0].Offset != int64(len(data)) {
			t.Errorf("%s: torn %v", name, torn)
		}
		if got := f.read(3); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes are left, want %d", name, len(got), len(data))
		}
	}
	// A segment that was being made.
	for _, tail := range [][]byte{nil, data[:20], make([]byte, 512)} {
		f.write(4, tail)
		log := f.open(t)
		wantHeld(t, log, f.blocks...)
		if torn := log.Torn(); len(torn) != 1 || torn[0].Offset != 0 {
			t.Errorf("%d bytes of a header: torn %v", len(tail), torn)
		}
		if f.disk.files[f.path(4)] != nil {
			t.Error("the file stays")
		}
	}
}

func TestFilesGoneOrExchanged(t *testing.T) {
	whole := newFolder(t)
	for name, change := range map[string]func(f folder){
		"first and second": func(f folder) {
			f.write(1, whole.read(2))
			f.write(2, whole.read(1))
		},
		"last is a copy of the first": func(f folder) { f.write(3, whole.read(1)) },
		"the second is gone":          func(f folder) { delete(f.disk.files, f.path(2)) },
		"the second is empty":         func(f folder) { f.write(2, nil) },
		"the last is gone":            func(f folder) { f.write(3, nil) },
	} {
		f := whole.clone()
		change(f)
		f.check(t, name)
	}
	// The number of a segment that is gone may be given again; an address says which record it means.
	f := whole.clone()
	delete(f.disk.files, f.path(2))
	delete(f.disk.files, f.path(3))
	log := f.open(t)
	again := put(t, log, numbered(30, 33)...)
	for i, a := range again {
		if old := whole.at[4+i]; a.Segment != old.Segment || a.Offset != old.Offset {
			t.Fatalf("%v, was %v", a, old)
		}
		if block, err := log.Read(whole.at[4+i]); err == nil {
			t.Errorf("%v is read as %q", whole.at[4+i], block)
		}
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	f := newFolder(t)
	data := f.read(2)
	binary.LittleEndian.PutUint32(data[8:], 2)
	binary.LittleEndian.PutUint32(data[36:], crc32.Checksum(data[:36], crc32.MakeTable(crc32.Castagnoli)))
	f.write(2, data)
	_, err := receivedlog.Open("received", receivedlog.Options{FS: f.disk})
	if version, ok := errors.AsType[*receivedlog.VersionError](err); !ok || version.Got != 2 || version.Known != 1 || version.File != f.path(2) {
		t.Errorf("got %v", err)
	}
}

// FuzzScan gives the log a last segment of any bytes, in front of nothing and behind a good one: no panic, no record that
// fails its checks, and a log that goes on.
func FuzzScan(f *testing.F) {
	whole := newFolder(f)
	first := whole.read(1)
	last := whole.read(3)
	f.Add(last)
	f.Add(last[:100])
	f.Add(append(slices.Clone(last), make([]byte, 100)...))
	f.Add([]byte("leatrlog"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		disk := newMemFS()
		disk.files["received/0000000000000003.log"] = &memFile{fs: disk, data: slices.Clone(data)}
		log, err := receivedlog.Open("received", receivedlog.Options{FS: disk})
		if err != nil {
			if _, ok := errors.AsType[*receivedlog.VersionError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		defer log.Close()
		var before []receivedlog.Address
		scan := func() (at []receivedlog.Address) {
			err := log.Scan(t.Context(), func(e receivedlog.Entry) error {
				at = append(at, e.Address)
				_, err := log.Read(e.Address)
				return err
			})
			if lost, ok := errors.AsType[*receivedlog.ScanError](err); err != nil && (!ok || lost.Total < 1) {
				t.Fatal(err)
			}
			return at
		}
		before = scan()
		next, err := log.Append(t.Context(), 1, first, nil)
		if err != nil {
			t.Fatal(err)
		}
		if after := scan(); !slices.Equal(after, append(before, next)) {
			t.Fatalf("%v, then with %v: %v", before, next, after)
		}
	})
}
