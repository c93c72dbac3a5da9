package receivedlog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	dir, err := os.MkdirTemp("", "received")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	log, err := receivedlog.Open(dir, receivedlog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, block := range []string{"to be", "or not"} {
		if _, err := log.Append(ctx, 0, []byte(block), []byte("2 records")); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(log.Close())

	log, err = receivedlog.Open(dir, receivedlog.Options{}) // another process
	if err != nil {
		fmt.Println(err)
		return
	}
	err = log.Scan(ctx, func(e receivedlog.Entry) error {
		block, err := log.Read(e.Address)
		fmt.Printf("%s: %s, %s\n", e.Address, block, e.Meta)
		return err
	})
	fmt.Println(err, log.Close())
	// Output:
	// <nil>
	// 0000000000000001.log byte 40 (stream 0, 5 bytes): to be, 2 records
	// 0000000000000001.log byte 82 (stream 0, 6 bytes): or not, 2 records
	// <nil> <nil>
}

func open(t testing.TB, dir string, opts receivedlog.Options) *receivedlog.Log {
	t.Helper()
	log, err := receivedlog.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// put appends blocks, with their text as meta, too.
func put(t testing.TB, log *receivedlog.Log, blocks ...string) []receivedlog.Address {
	t.Helper()
	var at []receivedlog.Address
	for i, b := range blocks {
		a, err := log.Append(t.Context(), int32(i%3), []byte(b), []byte("m:"+b[:min(len(b), 20)]))
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, a)
	}
	return at
}

// held returns the blocks that Scan finds, and its error.
func held(t testing.TB, log *receivedlog.Log) ([]string, error) {
	t.Helper()
	var blocks []string
	var last receivedlog.Address
	err := log.Scan(t.Context(), func(e receivedlog.Entry) error {
		if e.Address.Compare(last) <= 0 {
			t.Errorf("%v comes after %v", e.Address, last)
		}
		last = e.Address
		block, err := log.Read(e.Address)
		if err != nil {
			t.Errorf("%v was scanned and cannot be read: %v", e.Address, err)
		}
		if want := "m:" + string(block[:min(len(block), 20)]); string(e.Meta) != want {
			t.Errorf("meta %q, want %q", e.Meta, want)
		}
		blocks = append(blocks, string(block))
		return nil
	})
	return blocks, err
}

func wantHeld(t testing.TB, log *receivedlog.Log, want ...string) {
	t.Helper()
	got, err := held(t, log)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("records (-want +got):\n%s\n%v", diff, err)
	}
}

func numbered(from, to int) []string {
	var blocks []string
	for i := from; i <= to; i++ {
		blocks = append(blocks, fmt.Sprintf("block %d", i))
	}
	return blocks
}

// Blocks and what is said of them are there after a restart, in order, also one without bytes and one larger than any buffer.
// Shows R9, C-11.
func TestRecordsComeBack_R9_C11(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir, receivedlog.Options{})
	want := []string{"A1", "A2", "", strings.Repeat("large", 1<<20), "B1"}
	at := put(t, log, want...)
	wantHeld(t, log, want...)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log = open(t, dir, receivedlog.Options{})
	if torn := log.Torn(); len(torn) > 0 {
		t.Errorf("torn: %v", torn)
	}
	put(t, log, "B2")
	wantHeld(t, log, append(want, "B2")...)
	for i, a := range at {
		if got, err := log.Read(a); err != nil || string(got) != want[i] {
			t.Errorf("%v: %d bytes, %v", a, len(got), err)
		}
	}
	if end := log.End(); end.Compare(at[4]) <= 0 || end.Segment != 2 {
		t.Errorf("end %v", end)
	}
	if files, bytes := log.Segments(); files != 2 || bytes < 5<<20 {
		t.Errorf("%d files with %d bytes", files, bytes)
	}
}

func TestAnotherAddressIsNoticed(t *testing.T) {
	log := open(t, t.TempDir(), receivedlog.Options{})
	at := put(t, log, "one", "two")
	for name, change := range map[string]func(*receivedlog.Address){
		"stream": func(a *receivedlog.Address) { a.Stream++ },
		"offset": func(a *receivedlog.Address) { a.Offset++ },
		"before": func(a *receivedlog.Address) { a.Offset = -1 },
		"behind": func(a *receivedlog.Address) { a.Offset = math.MaxInt64 },
		"length": func(a *receivedlog.Address) { a.Length++ },
		"huge":   func(a *receivedlog.Address) { a.Length = math.MaxUint32 },
		"sum":    func(a *receivedlog.Address) { a.Sum++ },
		"other":  func(a *receivedlog.Address) { a.Offset = at[1].Offset },
	} {
		a := at[0]
		change(&a)
		_, err := log.Read(a)
		if damage, ok := errors.AsType[*receivedlog.DamageError](err); !ok || damage.Offset != a.Offset || !strings.HasSuffix(damage.File, ".log") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := log.Read(receivedlog.Address{Segment: 7}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a segment that is not there: %v", err)
	}
}

func TestAddressEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := receivedlog.Address{
			Stream: rapid.Int32().Draw(t, "stream"), Segment: rapid.Uint64().Draw(t, "segment"),
			Offset: rapid.Int64Range(0, math.MaxInt64).Draw(t, "offset"), Length: rapid.Uint32().Draw(t, "length"), Sum: rapid.Uint32().Draw(t, "sum"),
		}
		data := a.Append(nil)
		got, rest, err := receivedlog.DecodeAddress(append(data, "rest"...))
		if got != a || string(rest) != "rest" || err != nil {
			t.Fatalf("%v is read as %v, %q, %v", a, got, rest, err)
		}
		for i := range data {
			if _, _, err := receivedlog.DecodeAddress(data[:i]); err == nil {
				t.Fatalf("%d of %d bytes are read", i, len(data))
			}
		}
	})
	usual := receivedlog.Address{Stream: 3, Segment: 900, Offset: 60 << 20, Length: 100_000, Sum: math.MaxUint32}
	if n := len(usual.Append(nil)); n > 14 {
		t.Errorf("%v takes %d bytes", usual, n)
	}
	if _, _, err := receivedlog.DecodeAddress([]byte{0x80, 0, 1, 1, 1, 0, 0, 0, 0}); err == nil {
		t.Error("a stream in two bytes that fits in one is read")
	}
}

// A segment is full by time: writes at 0, 60000 and 60001 make two files.
// Shows L1.
func TestSegmentsByTime_L1(t *testing.T) {
	now := time.UnixMilli(0)
	log := open(t, t.TempDir(), receivedlog.Options{Now: func() time.Time { return now }})
	var segments []uint64
	for _, ms := range []int64{0, 60_000, 60_001} {
		now = time.UnixMilli(ms)
		segments = append(segments, put(t, log, "x")[0].Segment)
	}
	if diff := cmp.Diff([]uint64{1, 1, 2}, segments); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	wantHeld(t, log, "x", "x", "x")
}

func TestSegmentsBySize(t *testing.T) {
	log := open(t, t.TempDir(), receivedlog.Options{SegmentBytes: 200})
	at := put(t, log, append(numbered(1, 6), strings.Repeat("large", 100), "last")...)
	var segments []uint64
	for _, a := range at {
		segments = append(segments, a.Segment)
	}
	if diff := cmp.Diff([]uint64{1, 1, 1, 2, 2, 2, 3, 4}, segments); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
}

// What lies before the lowest record needed goes, whole segments at a time; a restart agrees; the newest segment stays.
// Shows R11.
func TestClean_R11(t *testing.T) {
	dir := t.TempDir()
	now := time.UnixMilli(0)
	opts := receivedlog.Options{Roll: time.Second, Now: func() time.Time { return now }}
	log := open(t, dir, opts)
	var at []receivedlog.Address
	for i := range 4 {
		now = time.UnixMilli(int64(i) * 1500)
		at = append(at, put(t, log, numbered(2*i, 2*i+1)...)...)
	}
	if n, err := log.Clean(at[3]); n != 1 || err != nil {
		t.Errorf("%d segments went, %v", n, err)
	}
	wantHeld(t, log, numbered(2, 7)...)
	if _, err := log.Read(at[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a record that is gone: %v", err)
	}
	log = open(t, dir, opts)
	wantHeld(t, log, numbered(2, 7)...)
	if n, err := log.Clean(log.End()); n != 2 || err != nil {
		t.Errorf("%d segments went, %v", n, err)
	}
	if n, err := log.Clean(receivedlog.Address{Segment: math.MaxUint64}); n != 0 || err != nil {
		t.Errorf("the newest one: %d segments went, %v", n, err)
	}
	wantHeld(t, log, "block 6", "block 7")
	if next := put(t, open(t, dir, opts), "next"); next[0].Segment != 5 {
		t.Errorf("next in %v", next)
	}
}

// Shows L4.
func TestClose_L4(t *testing.T) {
	log := open(t, t.TempDir(), receivedlog.Options{})
	at := put(t, log, "x")
	for range 2 {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := log.Append(t.Context(), 0, []byte("y"), nil); !errors.Is(err, receivedlog.ErrClosed) {
		t.Errorf("append: %v", err)
	}
	if _, err := log.Read(at[0]); !errors.Is(err, receivedlog.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if _, err := log.Clean(log.End()); !errors.Is(err, receivedlog.ErrClosed) {
		t.Errorf("clean: %v", err)
	}
	if err := log.Scan(t.Context(), nil); !errors.Is(err, receivedlog.ErrClosed) {
		t.Errorf("scan: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []receivedlog.Options{{SegmentBytes: -1}, {Roll: -1}, {MaxRecord: -1}, {MaxRecord: 1 << 31}} {
		if _, err := receivedlog.Open(t.TempDir(), o); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
	if got := (receivedlog.Options{}).String(); got != "segments of 67108864 bytes or 1m0s, blocks of at most 67108864 bytes" {
		t.Error(got)
	}
	log := open(t, t.TempDir(), receivedlog.Options{MaxRecord: 3})
	put(t, log, "123")
	_, err := log.Append(t.Context(), 0, []byte("1234"), nil)
	if size, ok := errors.AsType[*receivedlog.SizeError](err); !ok || size.Size != 4 || size.Most != 3 {
		t.Errorf("a large block: %v", err)
	}
	if _, err := log.Append(t.Context(), 0, nil, make([]byte, receivedlog.MaxMeta+1)); err == nil {
		t.Error("large meta is accepted")
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errDisk)
	if _, err := log.Append(gone, 0, nil, nil); !errors.Is(err, errDisk) {
		t.Errorf("context that has ended: %v", err)
	}
	wantHeld(t, log, "123")
}

// Other files in the folder are none of the log's.
func TestOtherFilesStay(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1.log", "0000000000000000.log", "0000000000000001.log.tmp", "notes", "-000000000000001.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := open(t, dir, receivedlog.Options{})
	put(t, log, "x")
	wantHeld(t, log, "x")
	if entries, err := os.ReadDir(dir); len(entries) != 6 || err != nil {
		t.Errorf("%d files, %v", len(entries), err)
	}
}
