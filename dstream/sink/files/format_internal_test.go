package files

import (
	"bytes"
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func golden() *manifest {
	sum := func(text string) digest { return sha256.Sum256([]byte(text)) }
	return &manifest{App: "words <&>", Output: "counts", Batch: 7, Time: 1_700_000_000_000, Epoch: 3, Staged: sum("staged"), Format: "text", Lines: true,
		Partitions: 3, Previous: 5, PreviousIs: sum("five"), Cleaned: 4, parts: []part{
			{Partition: 0, Name: "part-00000-3-1.txt", Rows: 2, Bytes: 12, Sum: sum("zero")},
			{Partition: 2, Name: "part-00002-3-2.txt", Rows: 1, Bytes: 8, Header: 3, Sum: sum("two")},
		}}
}

func TestManifestOfVersion1IsReadForEver(t *testing.T) {
	m := golden()
	data, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/manifest.v1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(want)); diff != "" {
		t.Errorf("encoded (-got +want):\n%s", diff)
	}
	got, err := decodeManifest(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, m, cmp.AllowUnexported(manifest{})); diff != "" {
		t.Errorf("decoded (-got +want):\n%s", diff)
	}
}

// resealed returns a manifest with a checksum that fits, whatever it says.
func resealed(t testing.TB, old, with string) []byte {
	t.Helper()
	data, err := golden().encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("no %q in the manifest", old)
	}
	data = bytes.Replace(data, []byte(old), []byte(with), 1)
	return reseal(data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1])
}

// reseal ends lines with a checksum that fits.
func reseal(lines []byte) []byte {
	sum, _ := digest(sha256.Sum256(lines)).MarshalText()
	return append(lines[:len(lines):len(lines)], `{"sha256":"`+string(sum)+"\"}\n"...)
}

func TestManifestsThatCannotBeAreRefused(t *testing.T) {
	if _, err := decodeManifest(resealed(t, "counts", "counts")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`},
		{`"batch":7`, `"batch":-7`},
		{`"previous":5`, `"previous":7`},
		{`"partitions":3`, `"partitions":2`},
		{`"partitions":3`, `"partitions":99999999999`},
		{`"files":2`, `"files":1`},
		{`"files":2`, `"files":1000000`},
		{`"partition":2`, `"partition":0`},
		{`part-00000-3-1.txt`, `../../../etc/passwd`},
		{`part-00000-3-1.txt`, `part-00000-/../../x`},
		{`part-00000-3-1.txt`, `part-00001-3-1.txt`},
		{`"rows":2`, `"rows":-2`},
		{`"header":3`, `"header":9`},
		{`"lines":true`, `"lines":true,"more":1`},
		{`"format"`, `"Format2"`},
		{"}\n{\"partition\":2", "} {}\n{\"partition\":2"},
	} {
		if m, err := decodeManifest(resealed(t, c[0], c[1])); err == nil {
			t.Errorf("%s instead of %s: %+v", c[1], c[0], m)
		}
	}
}

func FuzzDecodeManifest(f *testing.F) {
	data, err := golden().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:100])
	f.Add(data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1])
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := decodeManifest(data); err == nil && !bytes.Equal(reseal(data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1]), data) {
			t.Fatal("read with a checksum that does not fit")
		}
		m, err := decodeManifest(reseal(data))
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeManifest(again); err != nil || len(back.parts) != len(m.parts) {
			t.Fatalf("encoded again: %v", err)
		}
	})
}

func FuzzDecodeStaged(f *testing.F) {
	s := staging{Batch: 9, Format: "text", Lines: true, Partitions: 3, Files: golden().parts}
	f.Add(s.append(nil))
	f.Add([]byte{stagedVersion, 0, 1, 'x', 1, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeStaged(data)
		if err != nil {
			return
		}
		back, err := decodeStaged(s.append(nil))
		if diff := cmp.Diff(back, s); err != nil || diff != "" {
			t.Fatalf("encoded again: %v\n%s", err, diff)
		}
	})
}

func TestStagedBytesKeepWhatWasSealed(t *testing.T) {
	want := staging{Batch: 9, Format: "text", Lines: true, Partitions: 3, Files: golden().parts}
	got, err := decodeStaged(want.append(nil))
	if diff := cmp.Diff(got, want); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestFolderNamesAreSafeAndDiffer(t *testing.T) {
	name := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune("aA%.2fc/\\ :\x00-_")), 0, 8, -1), rapid.String(), rapid.StringN(150, 400, -1),
		rapid.SampledFrom([]string{"", ".", "..", "data", "commits", "tmp", "epochs", "con", "nul", "com1", "lpt9.x", "%", "%%"}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		x, y := escape(a), escape(b)
		if a != b && strings.EqualFold(x, y) {
			t.Fatalf("%q and %q share %q", a, b, x)
		}
		if a == b && x != y {
			t.Fatalf("%q has two names", a)
		}
		if x == "" || len(x) > 200 || x == "." || x == ".." || strings.Trim(x, "abcdefghijklmnopqrstuvwxyz0123456789-_.%") != "" || x[0] == '.' || x[len(x)-1] == '.' || reserved(x) {
			t.Fatalf("%q becomes %q", a, x)
		}
	})
}
