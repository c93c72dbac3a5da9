package golden

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

// dir is where cases are looked for.
var dir = flag.String("golden.dir", "testdata", "folder with *.json files of recorded cases")

// reports are what became of the cases of each kind, printed when all have run.
var reports = map[string]*Report{"rdd": {}, "dstream": {}}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, kind := range []string{"rdd", "dstream"} {
			fmt.Printf("golden %s: %s\n", kind, reports[kind])
		}
		os.Exit(code)
	}))
}

// TestRDD runs every RDD case, once in shared memory and once with everything encoded.
func TestRDD(t *testing.T) {
	for _, mode := range []struct {
		name string
		opts Options
	}{{"shared", Options{}}, {"isolated", Options{Isolate: true}}} {
		t.Run(mode.name, func(t *testing.T) {
			runCases(t, "rdd", func(t *testing.T, c Case) error {
				var rc RDDCase
				if err := json.Unmarshal(c.Raw, &rc); err != nil {
					return err
				}
				return rc.Run(t.Context(), mode.opts)
			})
		})
	}
}

// TestDStream runs every DStream case, once in shared memory and once with everything encoded. Each runs in
// a bubble of its own, in which it is known when nothing moves any more.
func TestDStream(t *testing.T) {
	for _, mode := range []struct {
		name    string
		isolate bool
	}{{"shared", false}, {"isolated", true}} {
		t.Run(mode.name, func(t *testing.T) {
			runCases(t, "dstream", func(t *testing.T, c Case) (err error) {
				var dc DStreamCase
				if err := json.Unmarshal(c.Raw, &dc); err != nil {
					return err
				}
				opts := StreamOptions{Isolate: mode.isolate, Dir: t.TempDir(), Idle: synctest.Wait}
				synctest.Test(t, func(t *testing.T) { err = dc.Run(t.Context(), opts) })
				return err
			})
		})
	}
}

// runCases runs the cases of a kind, one subtest each, and adds to the kind's report.
func runCases(t *testing.T, kind string, run func(t *testing.T, c Case) error) {
	cases, err := ReadCases(*dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		switch {
		case c.Kind() == "":
			t.Errorf("case %s is of no known kind", c.ID)
			continue
		case c.Kind() != kind:
			continue
		case c.Dev != "" && c.Leat == nil:
			reports[kind].AddDev(c.ID)
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			err := run(t, c)
			reports[kind].Add(c.ID, err)
			var missing *NotBuiltError
			switch {
			case errors.As(err, &missing): // counted apart, by the word
				t.Logf("%s\n%v", c.Title, err)
			case err != nil:
				t.Errorf("%s\n%v", c.Title, err)
			}
		})
	}
}
