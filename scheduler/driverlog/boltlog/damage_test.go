package boltlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// An image is the files of a closed log, and what it held.
type image struct {
	file, tail []byte
	digest     [32]byte
	last       uint64
}

// makeImage makes a log with a snapshot, some pages of entries and a checkpoint.
func makeImage(t testing.TB, batches int) image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "driver.db")
	log := open(t, path, 150)
	r := lead(t, log)
	r.all(t, r.application())
	r.batches(t, batches)
	r.all(t, driverlog.Command{Kind: driverlog.Checkpointed, Epoch: r.epoch, App: "app", Batch: r.next - 1, Keep: r.next - 3, Manifest: []byte("files")})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return readImage(t, path)
}

func readImage(t testing.TB, path string) image {
	t.Helper()
	info, err := boltlog.Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	img := image{digest: info.State.Digest(), last: info.State.Index}
	if img.file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if img.tail, err = os.ReadFile(path + ".tail"); err != nil {
		t.Fatal(err)
	}
	return img
}

// write puts the files into a folder; nil is none.
func (img image) write(t testing.TB, path string) {
	t.Helper()
	for name, data := range map[string][]byte{path: img.file, path + ".tail": img.tail} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if data == nil {
			continue
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// check opens and verifies the files at path, which were damaged as what says: either both name the damage, or nothing of the log was lost.
func (img image) check(t testing.TB, path, what string) (found bool) {
	t.Helper()
	info, verr := boltlog.Verify(path)
	if verr == nil && info.State.Digest() != img.digest {
		t.Fatalf("%s: Verify accepts another state, of index %d, want %d", what, info.State.Index, img.last)
	}
	log, err := boltlog.Open(path, boltlog.Options{})
	if (err == nil) != (verr == nil) {
		t.Fatalf("%s: Open = %v, Verify = %v", what, err, verr)
	}
	var corrupt *boltlog.CorruptError
	if err != nil {
		if !errors.As(err, &corrupt) || corrupt.Path != path {
			t.Fatalf("%s: Open = %v, want a CorruptError of %s", what, err, path)
		}
		return true
	}
	state, err := log.State(t.Context())
	if err != nil || state.Digest() != img.digest {
		t.Fatalf("%s: Open accepts another state, of index %d, want %d; %v", what, state.Index, img.last, err)
	}
	r := lead(t, log)
	r.batches(t, 1)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Verify(path); err != nil {
		t.Fatalf("%s: after another batch: %v", what, err)
	}
	return false
}

// Shows C-12.
func TestDamage_C12(t *testing.T) {
	img := makeImage(t, 90)
	path := filepath.Join(t.TempDir(), "driver.db")
	changed := func(change func(file []byte)) image {
		c := img
		c.file = bytes.Clone(img.file)
		change(c.file)
		return c
	}

	t.Run("D4_truncated_at_every_block", func(t *testing.T) {
		found := 0
		for n := 0; n < len(img.file); n += 512 {
			c := img
			c.file = img.file[:n]
			c.write(t, path)
			if c.check(t, path, fmt.Sprintf("cut to %d bytes", n)) {
				found++
			} else if n < 4*boltlog.PageSize {
				t.Errorf("a file of %d bytes was accepted", n)
			}
		}
		t.Logf("%d of %d found, the others held no page in use", found, len(img.file)/512)
	})
	t.Run("D4_a_bit_flipped_in_each_kilobyte", func(t *testing.T) {
		found := 0
		for at := 0; at < len(img.file); at += 1024 {
			at := at + (at/1024*37)%1024
			c := changed(func(f []byte) { f[at] ^= 1 << (at % 8) })
			c.write(t, path)
			if c.check(t, path, fmt.Sprintf("byte %d", at)) {
				found++
			}
		}
		t.Logf("%d of %d found", found, len(img.file)/1024)
	})
	// The structures of bbolt are at the front of a page: what Verify lets pass must not make bbolt panic.
	t.Run("D4_bits_of_every_page_header", func(t *testing.T) {
		found, passed := 0, 0
		for page := 0; page < len(img.file); page += boltlog.PageSize {
			for bit := page / boltlog.PageSize % 3; bit < 100*8; bit += 3 {
				at := page + bit/8
				c := changed(func(f []byte) { f[at] ^= 1 << (bit % 8) })
				info, err := boltlog.VerifyBytes(c.file)
				if err != nil {
					found++
					continue
				}
				if info.Digest() != img.digest {
					if page/boltlog.PageSize > 1 {
						t.Fatalf("byte %d: another state, of index %d, want %d", at, info.Index, img.last)
					}
					// The newest meta page: only the tail knows.
				}
				if passed++; passed%50 == 0 || page/boltlog.PageSize <= 1 && bit%16 < 2 {
					c.write(t, path)
					c.check(t, path, fmt.Sprintf("byte %d", at))
				}
			}
		}
		t.Logf("%d of %d found", found, found+passed)
	})
	t.Run("bits_of_entries_snapshot_and_head", func(t *testing.T) {
		found, passed := 0, 0
		for at := 2 * boltlog.PageSize; at < len(img.file); at += 5 {
			c := img.file
			c[at] ^= 1 << (at % 8)
			state, err := boltlog.VerifyBytes(c)
			c[at] ^= 1 << (at % 8)
			if err != nil {
				found++
			} else if passed++; state.Digest() != img.digest {
				t.Fatalf("byte %d: another state, of index %d, want %d", at, state.Index, img.last)
			}
		}
		t.Logf("%d of %d found", found, found+passed)
		if found < 2000 {
			t.Errorf("%d found, want at least those of the entries", found)
		}
	})
	t.Run("D4_pages_swapped", func(t *testing.T) {
		pages := len(img.file) / boltlog.PageSize
		for i := range pages {
			for j := range i {
				c := changed(func(f []byte) {
					a, b := f[i*boltlog.PageSize:(i+1)*boltlog.PageSize], f[j*boltlog.PageSize:(j+1)*boltlog.PageSize]
					tmp := bytes.Clone(a)
					copy(a, b)
					copy(b, tmp)
				})
				if state, err := boltlog.VerifyBytes(c.file); err == nil && j > 1 && state.Digest() != img.digest {
					t.Errorf("pages %d and %d swapped: another state", i, j)
				}
			}
		}
	})
	t.Run("D4_newest_meta_page", func(t *testing.T) {
		newest := 0
		if binary.NativeEndian.Uint64(img.file[boltlog.PageSize+64:]) > binary.NativeEndian.Uint64(img.file[64:]) {
			newest = boltlog.PageSize
		}
		c := changed(func(f []byte) { f[newest+40] ^= 1 })
		c.write(t, path)
		if !c.check(t, path, "newest meta") {
			t.Error("the last transaction was lost and nobody was told")
		}
		c.tail = nil
		c.write(t, path)
		if !c.check(t, path, "newest meta and no tail") {
			t.Error("the last transaction was lost and nobody was told")
		}
		c = changed(func(f []byte) { f[boltlog.PageSize-newest+40] ^= 1 })
		c.write(t, path)
		if c.check(t, path, "older meta") {
			t.Error("a meta page that nobody needs made the log useless")
		}
	})
	t.Run("D4_removed", func(t *testing.T) {
		c := img
		c.file = nil
		c.write(t, path)
		_, err := boltlog.Open(path, boltlog.Options{})
		var corrupt *boltlog.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Path != path {
			t.Errorf("Open = %v, want a CorruptError", err)
		}
	})
	t.Run("D4_emptied", func(t *testing.T) {
		c := img
		c.file = []byte{}
		c.write(t, path)
		if !c.check(t, path, "empty") {
			t.Error("an emptied log was made anew")
		}
	})
	t.Run("D4_swapped_with_an_older_one", func(t *testing.T) {
		old := img
		img.write(t, path)
		log := open(t, path, 150)
		lead(t, log).batches(t, 1)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		now := readImage(t, path)
		now.file = old.file
		now.write(t, path)
		if !now.check(t, path, "older file") {
			t.Error("an older file was accepted")
		}
	})
	t.Run("D4_swapped_with_another_log", func(t *testing.T) {
		other := makeImage(t, 95)
		other.tail = img.tail
		other.write(t, path)
		if !other.check(t, path, "other file") {
			t.Error("another log's file was accepted")
		}
	})
	t.Run("D4_tail_removed_or_damaged", func(t *testing.T) {
		for i := -1; i < len(img.tail); i++ {
			c := img
			if i < 0 {
				c.tail = nil
			} else {
				c.tail = bytes.Clone(img.tail)
				c.tail[i] ^= 0x10
			}
			c.write(t, path)
			if i < 3 || i%9 == 0 {
				if c.check(t, path, fmt.Sprintf("byte %d of the tail", i)) {
					t.Errorf("byte %d of the tail made a good file useless", i)
				}
			}
		}
	})
	t.Run("a_file_of_something_else", func(t *testing.T) {
		for name, data := range map[string][]byte{
			"text":  bytes.Repeat([]byte("not a log\n"), 5000),
			"short": []byte("not a log\n"),
			"zeros": make([]byte, 100_000),
		} {
			c := image{file: data}
			c.write(t, path)
			if !c.check(t, path, name) {
				t.Errorf("%s was accepted", name)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s was changed: %v", name, err)
			}
		}
	})
}

func TestFresh(t *testing.T) {
	t.Run("a_file_that_was_being_made_is_made_anew", func(t *testing.T) {
		first := boltlog.FirstPages()
		dir := t.TempDir()
		for n := 0; n <= len(first); n += 1024 {
			for _, zero := range []int{-1, 0, 1} { // a page that did not become durable
				data := bytes.Clone(first[:n])
				if zero >= 0 && n >= (zero+1)*boltlog.PageSize {
					clear(data[zero*boltlog.PageSize : (zero+1)*boltlog.PageSize])
				}
				path := filepath.Join(dir, fmt.Sprintf("%d-%d.db", n, zero+1))
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
				log := open(t, path, 0)
				lead(t, log).batches(t, 1)
				if err := log.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	t.Run("what_is_laid_out_first_is_known", func(t *testing.T) {
		// A file with the first pages opens as bbolt's own: FirstPages says what bbolt writes.
		path := filepath.Join(t.TempDir(), "driver.db")
		boltlog.CreateEmpty(t, path)
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, boltlog.FirstPages()) {
			t.Errorf("bbolt lays out %d bytes that differ from the %d expected: %v", len(got), len(boltlog.FirstPages()), err)
		}
	})
	t.Run("a_log_cut_to_that_size_is_not", func(t *testing.T) {
		img := makeImage(t, 5)
		img.tail = nil
		path := filepath.Join(t.TempDir(), "driver.db")
		for n := 1024; n <= 4*boltlog.PageSize; n += 1024 {
			c := img
			c.file = img.file[:n]
			c.write(t, path)
			if !c.check(t, path, fmt.Sprintf("cut to %d bytes", n)) {
				t.Errorf("a log cut to %d bytes was made anew", n)
			}
		}
	})
}

func FuzzVerify(f *testing.F) {
	img := makeImage(f, 60)
	f.Add(uint32(4096), []byte{1}, uint32(8192), []byte{2})
	f.Add(uint32(64), []byte{0, 0, 0, 0, 0, 0, 0, 9}, uint32(5000), []byte{0xff})
	f.Fuzz(func(t *testing.T, at1 uint32, with1 []byte, at2 uint32, with2 []byte) {
		data := bytes.Clone(img.file)
		copy(data[int(at1)%len(data):], with1)
		copy(data[int(at2)%len(data):], with2)
		boltlog.FixMetas(data)
		if state, err := boltlog.VerifyBytes(data); err == nil && state.Index > 1<<40 {
			t.Errorf("a state of index %d was accepted", state.Index)
		}
	})
}
