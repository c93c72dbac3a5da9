package dstream_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func TestOutputsRunInTheOrderDeclared_B22(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{5})
	var order []string
	for _, name := range []string{"first", "second"} {
		dstream.ForeachRDD(s, func(context.Context, *rdd.RDD[int], dstream.Time) error {
			order = append(order, name)
			return nil
		})
	}
	d.start()
	jobs, err := d.graph.Generate(1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		if j.ID != i || j.Batch != 1000 || j.Name != "foreachRDD" || !strings.HasPrefix(j.Site, "output_test.go:") {
			t.Errorf("job %d is %+v", i, j)
		}
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, strings.Join(order, " "), "first second")
}

func TestPrint_B23(t *testing.T) {
	line := strings.Repeat("-", 43) + "\n"
	for _, c := range []struct {
		rows []int
		want string
	}{
		{[]int{8, 9, 10}, line + "Time: 3000 ms\n" + line + "8\n9\n...\n\n"},
		{[]int{8, 9}, line + "Time: 3000 ms\n" + line + "8\n9\n\n"},
		{[]int{}, line + "Time: 3000 ms\n" + line + "\n"},
	} {
		d := newDriver(t, setup{})
		var w bytes.Buffer
		dstream.Print(dstream.SliceStream(d.graph, [][]int{nil, nil, c.rows}, 1), &w, 2)
		d.run(3)
		equal(t, w.String(), c.want)
	}
}

func TestPrintPassesOnWhatTheWriterReturns(t *testing.T) {
	d := newDriver(t, setup{})
	dstream.Print(input(d, []int{1}), brokenWriter{}, 1)
	d.start()
	if err := d.step(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestFolderName_B24(t *testing.T) {
	for _, c := range [][3]string{
		{"out", "txt", "out-7000.txt"}, {"out", "", "out-7000"}, {"", "txt", "7000.txt"}, {"", "", "7000"},
	} {
		equal(t, dstream.FolderName(c[0], c[1], 7000), c[2])
	}
}

func TestSaveAsTextFilesReplacesAnEarlierRun(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "out")
	for _, rows := range [][]int{{1, 2}, {3}} {
		d := newDriver(t, setup{})
		dstream.SaveAsTextFiles(dstream.SliceStream(d.graph, [][]int{rows}, 1), prefix, "txt")
		d.run(1)
	}
	got, err := os.ReadFile(filepath.Join(prefix+"-1000.txt", "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, string(got), "3\n")
}

func TestErrorOfAnOutputFailsItsJob(t *testing.T) {
	d := newDriver(t, setup{})
	boom := errors.New("boom")
	dstream.ForeachRDD(input(d, []int{1}), func(context.Context, *rdd.RDD[int], dstream.Time) error { return boom })
	d.start()
	if err := d.step(); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func TestPanicOfAFunctionFailsTheJobWithItsPlace(t *testing.T) {
	d := newDriver(t, setup{isolate: true})
	collect(dstream.Map(input(d, []int{1, 0}), func(x int) int { return 1 / x }))
	d.start()
	var user *rdd.UserError
	if err := d.step(); !errors.As(err, &user) || user.Op != "map" || !strings.HasPrefix(user.Site, "output_test.go:") {
		t.Errorf("got %v, want a UserError of this file", err)
	}
}
