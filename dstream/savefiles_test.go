package dstream_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// Every saver writes a folder a batch and replaces that of an earlier run.
func TestSavingReplacesAnEarlierRun(t *testing.T) {
	type row = rdd.Pair[string, int]
	for _, c := range []struct {
		name string
		save func(s *dstream.DStream[row], prefix string) *dstream.Output
		file string
		want string
	}{
		{"json", func(s *dstream.DStream[row], prefix string) *dstream.Output {
			return dstream.SaveAsJSONFiles(dstream.Map(s, func(p row) int { return p.Value }), prefix, "d")
		}, "part-*", "3\n"},
		{"csv", func(s *dstream.DStream[row], prefix string) *dstream.Output {
			fields := dstream.Map(s, func(p row) []string { return []string{p.Key, "x,y"} })
			return dstream.SaveAsCSVFiles(fields, prefix, "d", rdd.CSVSaveOptions{})
		}, "part-*", "c,\"x,y\"\n"},
		{"pairs", func(s *dstream.DStream[row], prefix string) *dstream.Output {
			return dstream.SavePairs(s, prefix, "d", func(k string, v int) string { return k + "=" + string(rune('0'+v)) })
		}, "part-*", "c=3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "out")
			for _, batch := range [][]row{{{Key: "a", Value: 1}, {Key: "b", Value: 2}}, {{Key: "c", Value: 3}}} {
				d := newDriver(t, setup{})
				c.save(dstream.SliceStream(d.graph, [][]row{batch}, 1), prefix)
				d.run(1)
			}
			names, err := filepath.Glob(filepath.Join(prefix+"-1000.d", c.file))
			if err != nil || len(names) != 1 {
				t.Fatalf("files %v, err %v", names, err)
			}
			got, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			equal(t, string(got), c.want)
		})
	}
}

func TestObjectFilesAreReadBack(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "out")
	d := newDriver(t, setup{})
	dstream.SaveAsObjectFiles(input(d, []int{1, 2, 3}), prefix, "")
	d.run(1)
	got, err := rdd.ObjectFile[int](d.rdds, prefix+"-1000").Collect(t.Context())
	if err != nil || len(got) != 3 || got[0] != 1 || got[2] != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSavePairsNeedsAFormat(t *testing.T) {
	d := newDriver(t, setup{})
	out := dstream.SavePairs(input(d, letters("a")), "out", "", nil)
	if err := out.Err(); !errors.Is(err, dstream.ErrNilFunction) {
		t.Errorf("got %v", err)
	}
}
