package streamingcontext_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// batchOf is a program over the files of a folder with one batch, at 14000, of what stream makes.
func batchOf[T any](t *testing.T, stream func(ssc *streamingcontext.Context) *dstream.DStream[T]) ([]T, error) {
	t.Helper()
	kit := streamtest.New(t, streamtest.Options{Interval: 2 * time.Second})
	kit.Clock().Set(12000)
	ssc := kit.Context()
	out := streamtest.Collect(kit, stream(ssc))
	if err := ssc.Start(t.Context()); err != nil {
		return nil, err
	}
	kit.Clock().Set(14000)
	if err := ssc.Settled(t.Context(), 14000); err != nil {
		return nil, err
	}
	return out.At(14000), ssc.Err()
}

// textOf is the lines of one file, read as a batch.
func textOf(t *testing.T, name, text string) ([]string, error) {
	t.Helper()
	f := folder{t, t.TempDir()}
	f.write(name, 13000, text)
	return batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[string] { return ssc.TextFiles(f.dir) })
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextFilesRead(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, test := range []struct {
		name, file, text string
		want             []string
	}{
		{"F-11 line ends of Windows", "a.csv", "k,hello\r\nk,world\r\n", []string{"k,hello", "k,world"}},
		{"F-11 a lone carriage return ends a line", "a", "a\rb\n", []string{"a", "b"}},
		{"F-13 long lines", "a", "ok\n" + long + "\nlast", []string{"ok", long, "last"}},
		{"F-14 gzip in two members", "a.gz", zipped(t, "a\n") + zipped(t, "b\n"), []string{"a", "b"}},
		{"F-16 three bytes", "a", "a\nb", []string{"a", "b"}},
		{"F-20 byte order mark", "a", "\xef\xbb\xbfk,1\nk,2\n", []string{"k,1", "k,2"}},
		{"F-20 byte order mark inside", "a", "k,1\n\xef\xbb\xbfk,2\n", []string{"k,1", "\xef\xbb\xbfk,2"}},
		{"F-20 byte order mark in gzip", "a.gz", zipped(t, "\xef\xbb\xbfk,1\nk,2\n"), []string{"k,1", "k,2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := textOf(t, test.file, test.text)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("lines (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// A compressed file that is damaged fails its batch as a whole, by name: nothing of it is committed.
// Shows F-15.
func TestTextFilesDamaged_F15(t *testing.T) {
	whole := zipped(t, strings.Repeat("a line\n", 10_000))
	for name, text := range map[string]string{
		"five bytes":                   whole[:5],
		"the last six bytes missing":   whole[:len(whole)-6],
		"bytes after the end":          whole + "garbage",
		"another format than its name": "no gzip at all\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := textOf(t, "bad.gz", text)
			failed, ok := errors.AsType[*rdd.FileError](err)
			if !ok || filepath.Base(failed.Path) != "bad.gz" || len(got) != 0 {
				t.Errorf("%d lines, %v", len(got), err)
			}
		})
	}
}

// The rule: files come whole. What is added to one that was read is not a line of its own.
// Shows F-17.
func TestTextFilesPartialLine_F17(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("x", 13000, "a\nb")
	out, to := filesAt12(t, f.dir)
	to(14000)
	f.write("x", 15000, "a\nbc\n")
	to(90000)
	var got []string
	for _, b := range out.Batches() {
		got = append(got, b...)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// A file with an old time is passed over by rule, see FileStream.
// Shows F-08.
func TestTextFilesOldTime_F08(t *testing.T) {
	f := folder{t, t.TempDir()}
	out, to := filesAt12(t, f.dir)
	to(14000)
	away := folder{t, t.TempDir()}
	away.write("old", 11000, "old\n")
	away.write("touched", 15000, "touched\n")
	for _, name := range []string{"old", "touched"} {
		if err := os.Rename(filepath.Join(away.dir, name), filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	to(16000)
	wantBatches(t, out, nil, []string{"touched"})
}

func TestBinaryRecords_I15(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("a", 13000, "\x01\x02\x03")
	f.write("b", 13000, "")
	records := func(n int) ([][]byte, error) {
		return batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[[]byte] { return ssc.BinaryRecords(f.dir, n) })
	}
	got, err := records(1)
	if diff := cmp.Diff([][]byte{{1}, {2}, {3}}, got); diff != "" || err != nil {
		t.Errorf("records of one byte (-want +got):\n%s\n%v", diff, err)
	}
	got, err = records(2)
	short, ok := errors.AsType[*rdd.FileError](err)
	if !ok || short.Path != filepath.Join(f.dir, "a") || short.Offset != 2 || !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > 0 {
		t.Errorf("records of two bytes: %v, %v", got, err)
	}
	if _, err = records(1 << 40); !errors.As(err, &short) || short.Offset != 0 {
		t.Errorf("records of a terabyte: %v", err)
	}
	if _, err = records(0); !errors.Is(err, rdd.ErrArgument) {
		t.Errorf("records of no bytes: %v", err)
	}
}

// Files are cut into parts that begin with a record, and records do not share their bytes with the ones beside them.
func TestBinaryRecordsOfManyBytes(t *testing.T) {
	f := folder{t, t.TempDir()}
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "%07d", i)
	}
	f.write("a", 13000, text.String())
	got, err := batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[[]byte] { return ssc.BinaryRecords(f.dir, 7) })
	if err != nil || len(got) != 50_000 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for i, r := range got {
		if n, err := strconv.Atoi(string(r)); n != i || err != nil || cap(r) != 7 {
			t.Fatalf("record %d is %q, with room for %d bytes", i, r, cap(r))
		}
	}
	parts := streamingcontext.RecordParts(200<<20, 7)
	at := int64(0)
	for _, p := range parts {
		if p[0] != at || p[0]%7 != 0 || p[1]-p[0] > 64<<20 {
			t.Errorf("part %v", p)
		}
		at = p[1]
	}
	if len(parts) != 4 || at != 200<<20 {
		t.Errorf("parts %v", parts)
	}
}

// words decodes the words of a text.
func words(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		scan := bufio.NewScanner(r)
		scan.Split(bufio.ScanWords)
		for scan.Scan() {
			if scan.Text() == "bad" {
				yield("", errors.New("a bad word"))
				return
			}
			if !yield(scan.Text(), nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield("", err)
		}
	}
}

func TestFileStream(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("b", 13000, "to be")
	f.write("a", 11000, "or not")
	f.write(".hidden", 13000, "quiet")
	stream := func(opts ...streamingcontext.FileOption) []string {
		got, err := batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
			return streamingcontext.FileStream(ssc, f.dir, words, opts...)
		})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	for want, got := range map[string][]string{
		"to be":              stream(),
		"or not to be":       stream(streamingcontext.IncludeExisting()),
		"quiet to be":        stream(streamingcontext.FileFilter(func(string) bool { return true })),
		"quiet or not to be": stream(streamingcontext.FileFilter(func(string) bool { return true }), streamingcontext.IncludeExisting()),
	} {
		if strings.Join(got, " ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f.write("c", 13500, "such a bad word")
	_, err := batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
		return streamingcontext.FileStream(ssc, f.dir, words)
	})
	if err == nil || !strings.Contains(err.Error(), "decode "+filepath.Join(f.dir, "c")+", 15 bytes read: a bad word") {
		t.Errorf("a file that cannot be decoded: %v", err)
	}
	_, err = batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
		return streamingcontext.FileStream[string](ssc, f.dir, nil)
	})
	wantErr(t, "no function", err, dstream.ErrNilFunction)
}

// A batch reads the version of a file that was selected for it, or fails.
// Shows F-19.
func TestFileStreamOneVersion_F19(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(f folder)
		gone   bool
	}{
		{"replaced before it is read", func(f folder) { f.write("x", 15000, "4 other rows x") }, false},
		{"touched", func(f folder) { f.write("x", 15000, "3 rows x") }, false},
		{"grown", func(f folder) { f.write("x", 13000, "3 rows x y") }, false},
		{"gone", func(f folder) { _ = os.Remove(filepath.Join(f.dir, "x")) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for during, decode := range map[string]func(f folder) func(io.Reader) iter.Seq2[string, error]{
				"selected": nil,
				"read": func(f folder) func(io.Reader) iter.Seq2[string, error] {
					return func(r io.Reader) iter.Seq2[string, error] {
						test.change(f)
						return words(r)
					}
				},
			} {
				if during == "read" && test.gone {
					continue // what is open can be read to its end
				}
				f := folder{t, t.TempDir()}
				f.write("x", 13000, "3 rows x")
				_, err := batchOf(t, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
					how := words
					if decode != nil {
						how = decode(f)
					}
					s := streamingcontext.FileStream(ssc, f.dir, how)
					if decode != nil {
						return s
					}
					return dstream.Transform(s, func(r *rdd.RDD[string], _ dstream.Time) (*rdd.RDD[string], error) {
						test.change(f) // selected, and not read yet
						return r, nil
					})
				})
				changed, ok := errors.AsType[*streamingcontext.FileChangedError](err)
				if test.gone {
					if !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s: %v", during, err)
					}
				} else if !ok || changed.Path != filepath.Join(f.dir, "x") || changed.Was != 8 || changed.WasTime != 13000 {
					t.Errorf("%s: %v", during, err)
				}
			}
		})
	}
}
