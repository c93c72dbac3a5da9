package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/leat-io/leat/examples/internal/exampletest"
)

func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	args, outputs := exampletest.Commands(t, "logmining")
	if len(args) < 2 {
		t.Fatalf("%d commands", len(args))
	}
	for i, a := range args {
		if got := exampletest.PlayJob(t, run, a...); got != outputs[i] {
			t.Errorf("%q prints\n%s\nREADME.md has\n%s", a, got, outputs[i])
		}
	}
}

// The answers are those of a plain loop over the same log, for any number of partitions.
func TestAnswersAreThoseOfAPlainLoop(t *testing.T) {
	log := string(madeUpLog())
	path := exampletest.Write(t, "log", log)
	var errs, about int
	var times, hours strings.Builder
	perHour := map[string]int{}
	for line := range strings.Lines(log) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] != "ERROR" {
			continue
		}
		errs++
		perHour[f[3][:13]]++
		if strings.Contains(line, "mysql") {
			about++
			fmt.Fprintln(&times, f[3])
		}
	}
	for h := range 24 {
		key := fmt.Sprintf("2012-04-25T%02d", h)
		fmt.Fprintf(&hours, "%s\t%d\n", key, perHour[key])
	}
	want := fmt.Sprintf("errors: %d\nerrors that mention mysql: %d\nhours with errors: 24\n%stimes of errors that mention mysql: %d\n%s",
		errs, about, &hours, about, &times)
	for _, parts := range []string{"1", "2", "7"} {
		got := exampletest.PlayJob(t, run, "-in", path, "-component", "mysql", "-show", "0", "-partitions", parts)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s partitions print\n%s\nwant\n%s", parts, got, want)
		}
		if !strings.HasSuffix(got, "\nlines read\t80000\t20000\n") {
			t.Errorf("%s partitions: the cache does not save three of four readings:\n%s", parts, got[len(got)-200:])
		}
	}
}

func TestLogOfOtherShape(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"empty", "", "errors: 0\nerrors that mention hdfs: 0\nhours with errors: 0\ntimes of errors that mention hdfs: 0\n"},
		{"no error", "INFO\thdfs\tn\t07:00\tx\n", "errors: 0\nerrors that mention hdfs: 0\nhours with errors: 0\n"},
		{"no time", "ERROR\thdfs is gone\n", "errors: 1\nerrors that mention hdfs: 1\nhours with errors: 1\n-\t1\ntimes of errors that mention hdfs: 1\n-\n"},
		{"another level", "ERRORS\thdfs\tn\t07:00\tx\n", "errors: 0\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := exampletest.Write(t, "log", test.log)
			if got := exampletest.PlayJob(t, run, "-in", path); !strings.HasPrefix(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestAnswersThatDifferAreAnError(t *testing.T) {
	a := []answer{{question: "times", found: 1, rows: []string{"07:00"}}}
	b := []answer{{question: "times", found: 1, rows: []string{"08:00"}}}
	if err := report(io.Discard, a, b, 0); err == nil {
		t.Error("no error")
	}
	c := []answer{{question: "times", found: 2, rows: []string{"07:00"}}}
	if err := report(io.Discard, a, c, 0); err == nil {
		t.Error("no error for another count")
	}
}

func TestBadArgumentIsAnErrorOfOneLine(t *testing.T) {
	for _, args := range [][]string{{"-in", "/there/is/none"}, {"-show", "-1"}, {"-partitions", "0"}, {"log"}} {
		err := run(t.Context(), args, io.Discard)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", args, err)
		}
	}
}
