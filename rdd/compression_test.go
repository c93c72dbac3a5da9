package rdd

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zstdOf is text as one zstd frame.
func zstdOf(t *testing.T, text string, opts ...zstd.EOption) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, append(opts, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write([]byte(text))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bzipped is "one\ntwo\nthree\n" as the reference tool compresses it; the standard library has no compressor.
func bzipped(t *testing.T) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(bzip2Text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTextFileDecompresses(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("0123456789", 7000) // 70,000 characters
	text := "a\r\nb\n" + long + "\n\nlast"
	bz := bzipped(t)
	files := map[string]struct {
		data string
		want []string
	}{
		"a.gz": {zipped(t, text), linesOf(text)}, "a.zst": {zstdOf(t, text), linesOf(text)}, "a.zstd": {zstdOf(t, text), linesOf(text)},
		"a.bz2":         {bz, []string{"one", "two", "three"}},
		"empty.gz":      {"", []string{}},
		"empty.zst":     {"", []string{}},
		"empty.bz2":     {"", []string{}},
		"nothing.gz":    {zipped(t, ""), []string{}},
		"nothing.zst":   {zstdOf(t, ""), []string{}},
		"members.gz":    {zipped(t, "a\nb") + zipped(t, "") + zipped(t, "c\n") + zipped(t, "d"), []string{"a", "bc", "d"}},
		"members.zst":   {zstdOf(t, "a\nb") + zstdOf(t, "") + zstdOf(t, "c\n") + zstdOf(t, "d"), []string{"a", "bc", "d"}},
		"members.bz2":   {bz + bz, []string{"one", "two", "three", "one", "two", "three"}},
		"skippable.zst": {"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstdOf(t, "x\n"), []string{"x"}},
	}
	for name, f := range files {
		write(t, dir, name, f.data)
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for name, f := range files {
			r := TextFile(c, dir+"/"+name, 5)
			same(t, name, collect(t, r), f.want)
			if n := sizeOf(t, r); n != 1 {
				t.Errorf("%s has %d partitions, want 1", name, n)
			}
		}
	})
}

// A compressed file that lacks its end, wherever it is cut, is an error that names it, also where a member or two are whole.
func TestTextFileRefusesEveryCut(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	text := "some text\nand more of it\n" + strings.Repeat("words ", 200)
	bz := bzipped(t)
	gz, zs, raw := zipped(t, text), zstdOf(t, text), zstdOf(t, "ab\n", zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	for name, members := range map[string][]string{
		"a.gz": {gz}, "two.gz": {gz, gz}, "a.zst": {zs}, "two.zst": {zs, raw}, "raw.zst": {raw, zs}, "a.bz2": {bz}, "two.bz2": {bz, bz},
	} {
		whole := strings.Join(members, "")
		for cut := 1; cut < len(whole); cut++ {
			if cut == len(members[0]) {
				continue // that is a whole file
			}
			path := write(t, dir, name, whole[:cut])
			rows, err := TextFile(c, path, 1).Collect(t.Context())
			var bad *FileError
			if !errors.As(err, &bad) || bad.Path != path || bad.Line < 1 || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut at %d of %d: %d lines, %v; want a FileError of io.ErrUnexpectedEOF", name, cut, len(whole), len(rows), err)
			}
		}
	}
}

// Flipped bits are noticed by the checksums of the formats.
func TestTextFileRefusesDamage(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	text := "some text\nand more of it\n"
	for name, whole := range map[string]string{"a.gz": zipped(t, text), "a.zst": zstdOf(t, text), "a.bz2": bzipped(t)} {
		want := linesOf(text)
		if name == "a.bz2" {
			want = []string{"one", "two", "three"}
		}
		unnoticed := 0
		for i := range len(whole) * 8 {
			data := []byte(whole)
			data[i/8] ^= 1 << (i % 8)
			path := write(t, dir, name, string(data))
			rows, err := TextFile(c, path, 1).Collect(t.Context())
			var bad *FileError
			switch {
			case err == nil && !slices.Equal(rows, want):
				t.Errorf("%s with bit %d flipped gives %q", name, i, rows)
			case err == nil:
				unnoticed++ // the time in a header, and such
			case !errors.As(err, &bad) || bad.Path != path:
				t.Errorf("%s with bit %d flipped: %v, want a FileError", name, i, err)
			}
		}
		if unnoticed > 8*10 {
			t.Errorf("%s: %d bits matter to nobody", name, unnoticed)
		}
	}
	path := write(t, dir, "garbage.gz", zipped(t, "a\n")+"garbage")
	if _, err := TextFile(c, path, 1).Collect(t.Context()); err == nil {
		t.Error("bytes behind the last member are passed over")
	}
}

// The place reached counts whole lines and the bytes before the one that is broken.
func TestFileErrorNamesThePlace(t *testing.T) {
	onRunners(t, Options{}, fileErrorNamesThePlace)
}

func fileErrorNamesThePlace(t *testing.T, c *Context) {
	var b bytes.Buffer
	for i := range 2000 {
		b.WriteString(strings.Repeat("x", i%97) + "\n")
	}
	whole := zipped(t, b.String())
	path := write(t, t.TempDir(), "a.gz", whole[:len(whole)-1])
	rows, err := TextFile(c, path, 1).Collect(t.Context())
	var bad *FileError
	if !errors.As(err, &bad) || bad.Line != 2001 || bad.Offset != int64(b.Len()) || rows != nil {
		t.Errorf("%d rows, %v; want line 2001, byte %d", len(rows), err, b.Len())
	}
	if n, err := TextFile(c, path, 1).Take(t.Context(), 3); len(n) != 3 || err != nil {
		t.Errorf("what needs only the head: %d rows, %v", len(n), err)
	}
}

// A zstd file may not make a task remember more than the bound.
func TestZstdWindowIsBounded(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	// A frame header that asks for a window of 2^28 bytes, and one raw block.
	header := func(exponent byte) string {
		return "\x28\xb5\x2f\xfd\x00" + string([]byte{exponent << 3}) + "\x19\x00\x00" + "ab\n"
	}
	same(t, "the largest", collect(t, TextFile(c, write(t, dir, "a.zst", header(17)), 1)), []string{"ab"})
	if _, err := TextFile(c, write(t, dir, "b.zst", header(18)), 1).Collect(t.Context()); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("twice the largest: %v", err)
	}
}

const bzip2Text = "QlpoOTFBWSZTWQh7fdcAAATBgAAQAkGUgCAAMQwIIaPUyIVHMjio8XckU4UJAIe33XA="
