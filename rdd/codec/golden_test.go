package codec_test

import (
	"encoding/hex"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// rewrite fills testdata again, after a change of the format that came with a new version.
var rewrite = flag.Bool("rewrite", false, "write the golden files")

// golden checks that rows encode to the bytes of the file, byte for byte, and that the file decodes to rows.
func golden[T any](t *testing.T, name string, rows []T) {
	t.Run(name, func(t *testing.T) {
		c := newCodec[T](t)
		file := filepath.Join("testdata", "v1", name+".txt")
		frame := encode(t, c, rows)
		if *rewrite {
			if err := os.WriteFile(file, []byte(c.Name()+"\n"+lines(frame)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantName, content, _ := strings.Cut(string(text), "\n")
		if c.Name() != wantName {
			t.Errorf("got name %s, want %s", c.Name(), wantName)
		}
		want, err := hex.DecodeString(strings.ReplaceAll(content, "\n", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(frame); got != lines(want) {
			t.Errorf("got\n%swant\n%s", got, lines(want))
		}
		if got, err := c.Decode(want); err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("got %#v, %v; want %#v", got, err, rows)
		}
	})
}

// lines returns b in hexadecimal, 32 bytes a line.
func lines(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := min(32, len(b))
		s.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return s.String()
}

func TestFormat_has_not_changed(t *testing.T) {
	golden(t, "pairs", []Pair[string, int64]{{"to", 2}, {"", -1}, {strings.Repeat("x", 130), math.MaxInt64}})
	golden(t, "numbers", []Numbers1{
		{true, -1, -2, -3, -4, -5, 1, 2, 3, 4, 5, 6, 1.5, math.Copysign(0, -1)}, {F64: math.Inf(1)},
	})
	golden(t, "nested", nestedRows())
	golden(t, "tree", treeRows())
	golden(t, "any", anyRows())
	golden(t, "map", []map[string]float32{{"b": 2, "a": 1, "aa": 3}, nil, {}})
	golden(t, "own_methods", sampleTimes)
	golden(t, "msgpack", []Custom{{0}, {-1}, {math.MaxInt64}})
	golden(t, "nothing", make([]struct{}, 3))
}
