package rdd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// reading is a record of a JSON file.
type reading struct {
	Name string
	At   []int
	Next *reading `json:",omitempty"`
}

func TestJSONFile(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 70_000)
	text := "{\"Name\":\"a\",\"At\":[1,2]}\r\n\n  \t\n" + `{"Name":"` + long + "\",\"Extra\":1}\n" + ` {"Name":"c","Next":{"Name":"d"}} ` + "\nnull"
	want := []reading{{Name: "a", At: []int{1, 2}}, {Name: long}, {Name: "c", Next: &reading{Name: "d"}}, {}}
	path, packed := write(t, dir, "a.json", text), write(t, dir, "a.json.zst", zstdOf(t, text))
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, n := range []int{1, 2, 3, 50} {
			r := JSONFile[reading](c, path, n)
			same(t, fmt.Sprint("in ", n), collect(t, r), want)
			if got := sizeOf(t, r); got != n {
				t.Errorf("%d partitions, want %d", got, n)
			}
		}
		same(t, "compressed", collect(t, JSONFile[reading](c, packed, 4)), want)
		same(t, "folder", collect(t, JSONFile[reading](c, dir, 4)), append(want[:4:4], want...))
		same(t, "empty", collect(t, JSONFile[int](c, write(t, t.TempDir(), "e", ""), 4)), []int{})
		same(t, "maps", collect(t, JSONFile[map[string]string](c, write(t, t.TempDir(), "m", `{"a":"b"}`), 1)), []map[string]string{{"a": "b"}})
		_, err := JSONFile[reading](c, filepath.Join(dir, "none"), 1).Collect(t.Context())
		wantErr(t, "missing", err, fs.ErrNotExist)
		wantErr(t, "no partitions", JSONFile[reading](c, path, 0).Err(), ErrArgument)
	})
}

// Rows of one chunk have nothing in common with those of the next.
func TestJSONFileRowsAreTheirOwn(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	var b strings.Builder
	want := []reading{}
	for i := range 3000 {
		x := reading{Name: fmt.Sprint(i), At: []int{i, i + 1}}
		if i%3 == 0 {
			x.At = nil
		}
		want = append(want, x)
		line, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	r := JSONFile[reading](c, write(t, t.TempDir(), "a", b.String()), 2).Cache()
	for range 2 {
		same(t, "rows", collect(t, r), want)
	}
}

func TestJSONFileBadLines(t *testing.T) {
	good := strings.Repeat("{\"Name\":\"a\"}\r\n", 700) // 14 bytes each
	for _, x := range []struct {
		name, line string
		opts       []JSONOption
		offset     int64
		want       string
	}{
		{"no JSON", "{", nil, 9800, "unexpected end of JSON input"},
		{"two values", `{} {}`, nil, 9800, "after top-level value"},
		{"another type", `{"Name":1}`, nil, 9800, "cannot unmarshal number"},
		{"strict, no JSON", "{", []JSONOption{StrictJSON()}, 9800, "unexpected end of JSON input"},
		{"strict, two values", `{} {}`, []JSONOption{StrictJSON()}, 9800, "text after the value"},
		{"strict, unknown field", `{"Nome":"b"}`, []JSONOption{StrictJSON()}, 9800, `unknown field "Nome"`},
		{"cut short by a NUL", "{\"Name\":\"\x00\"}", nil, 9800, "invalid character"},
	} {
		t.Run(x.name, func(t *testing.T) {
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				path := write(t, t.TempDir(), "a.json", good+x.line+"\r\n"+good)
				_, err := JSONFile[reading](c, path, 1, x.opts...).Collect(t.Context())
				var bad *DecodeError
				if !errors.As(err, &bad) || bad.Path != path || bad.Line != 701 || bad.Offset != x.offset || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want a DecodeError of line 701, byte %d: %s", err, x.offset, x.want)
				}
				var mu sync.Mutex
				places := map[int64]bool{}
				skip := SkipBadLines(func(e *DecodeError) {
					mu.Lock()
					defer mu.Unlock()
					places[e.Offset] = true
				})
				for _, n := range []int{1, 3} {
					clear(places)
					got := collect(t, JSONFile[reading](c, path, n, append(x.opts, skip)...))
					if len(got) != 1400 || got[0].Name != "a" || got[700].Name != "a" || len(places) != 1 || !places[x.offset] {
						t.Errorf("in %d: %d rows, skipped at %v", n, len(got), places)
					}
				}
				if n := len(collect(t, JSONFile[reading](c, path, 1, append(x.opts, SkipBadLines(nil))...))); n != 1400 {
					t.Errorf("skipped without a callback: %d rows", n)
				}
			})
		})
	}
}

// touchy panics at one value.
type touchy struct{ n int }

func (x *touchy) UnmarshalJSON(data []byte) error {
	if string(data) == "13" {
		panic("thirteen")
	}
	return json.Unmarshal(data, &x.n)
}

func TestJSONFilePanicOfTheTypesMethod(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	path := write(t, t.TempDir(), "a", strings.Repeat("1\n", 600)+"13\n2\n")
	_, err := Map(JSONFile[touchy](c, path, 1), func(x touchy) int { return x.n }).Collect(t.Context())
	var user *UserError
	if !errors.As(err, &user) || user.Op != "jsonFile" || user.Offset != 600 || user.Stack == "" {
		t.Errorf("%v, want a UserError of record 600", err)
	}
}

func TestJSONFileRefusesEveryCut(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	whole := zipped(t, "{}\n{\"Name\":\"a\"}\n")
	for cut := 1; cut < len(whole); cut++ {
		path := write(t, dir, "a.gz", whole[:cut])
		// Skipping is for lines that are there, not for what is missing.
		rows, err := JSONFile[reading](c, path, 1, SkipBadLines(nil)).Collect(t.Context())
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
			t.Errorf("cut at %d: %v, %v", cut, rows, err)
		}
	}
}
