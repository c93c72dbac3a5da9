package scheduler_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler"
)

func TestReadPools(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []scheduler.Pool
		warned     []string // fields that fell back
	}{
		{"nothing", `{}`, nil, nil},
		{"nested_pools_follow_their_parents",
			`{"pools": [{"name": "a", "weight": 2, "minShare": 3, "mode": "fair", "pools": [{"name": "b"}]}, {"name": "c"}]}`,
			[]scheduler.Pool{{Name: "a", Mode: scheduler.FAIR, Weight: 2, MinShare: 3}, {Name: "b", Parent: "a", Weight: 1},
				{Name: "c", Weight: 1}}, nil},
		{"numbers_in_quotes", `{"pools": [{"name": "a", "weight": " 2 ", "minShare": "3"}]}`,
			[]scheduler.Pool{{Name: "a", Weight: 2, MinShare: 3}}, nil},
		{"D29_blank_values_fall_back", `{"pools": [{"name": "a", "weight": "", "minShare": " ", "mode": ""}]}`,
			[]scheduler.Pool{{Name: "a", Weight: 1}}, []string{"mode", "weight", "minShare"}},
		{"D29_invalid_values_fall_back", `{"pools": [{"name": "a", "weight": 0, "minShare": -1, "mode": "LIFO"},
			{"name": "b", "weight": "much", "minShare": 1.5, "mode": 7}, {"name": "c", "weight": null, "minShare": 99999999999999999999}]}`,
			[]scheduler.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}},
			[]string{"mode", "weight", "minShare", "mode", "weight", "minShare", "weight", "minShare"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			got, err := scheduler.ReadPools(strings.NewReader(c.file), slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("pools (-got +want):\n%s", diff)
			}
			var warned []string
			for line := range strings.Lines(log.String()) {
				_, after, _ := strings.Cut(line, "field=")
				field, _, _ := strings.Cut(after, " ")
				warned = append(warned, field)
			}
			if diff := cmp.Diff(warned, c.warned); diff != "" {
				t.Errorf("fields that fell back (-got +want):\n%s", diff)
			}
			if err := (scheduler.Options{Pools: got}).Validate(); err != nil {
				t.Errorf("what was read is not valid: %v", err)
			}
		})
	}
	deep := strings.Repeat(`{"name": "%d", "pools": [`, 100)
	for i := range 100 {
		deep = strings.Replace(deep, "%d", fmt.Sprint(i), 1)
	}
	for _, c := range []struct{ name, file, want string }{
		{"no_json", `pools`, "invalid character"},
		{"cut_off", `{"pools": [{"name": "a"}`, "unexpected EOF"},
		{"unknown_field", `{"pools": [{"name": "a", "wieght": 2}]}`, "wieght"},
		{"something_follows", `{} {}`, "something follows"},
		{"no_name", `{"pools": [{"name": "a"}, {"weight": 2}]}`, "pool 1: no name"},
		{"no_name_below", `{"pools": [{"name": "a", "pools": [{"name": " "}]}]}`, `pool 0 in "a": no name`},
		{"name_used_twice", `{"pools": [{"name": "a", "pools": [{"name": "a"}]}]}`, `pool "a": the name is used twice`},
		{"too_deep", `{"pools": [` + deep + strings.Repeat("]}", 100) + `]}`, "nested deeper"},
		{"too_large", `{"pools": [` + strings.Repeat(" ", 1<<20) + `]}`, "more than"},
	} {
		t.Run("error/"+c.name, func(t *testing.T) {
			if _, err := scheduler.ReadPools(strings.NewReader(c.file), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := scheduler.ReadPools(brokenReader{}, nil); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

var errBroken = errors.New("disk gone")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestOptionsRefusePools(t *testing.T) {
	for _, c := range []struct {
		name  string
		pools []scheduler.Pool
		want  string
	}{
		{"no_name", []scheduler.Pool{{}}, "no name"},
		{"name_used_twice", []scheduler.Pool{{Name: "a"}, {Name: "a"}}, "twice"},
		{"parent_not_listed_before", []scheduler.Pool{{Name: "a", Parent: "b"}, {Name: "b"}}, `parent "b"`},
		{"parent_of_itself", []scheduler.Pool{{Name: "a", Parent: "a"}}, `parent "a"`},
		{"weight", []scheduler.Pool{{Name: "a", Weight: -1}}, "Weight"},
		{"min_share", []scheduler.Pool{{Name: "a", MinShare: -1}}, "MinShare"},
		{"mode", []scheduler.Pool{{Name: "a", Mode: 7}}, "Mode(7)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := (scheduler.Options{Pools: c.pools}).Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if err := (scheduler.Options{Mode: 9}).Validate(); err == nil {
		t.Error("mode 9 was taken")
	}
	if err := (scheduler.Options{Mode: scheduler.FAIR, Pools: []scheduler.Pool{{Name: "a"}, {Name: "b", Parent: "a"}}}).Validate(); err != nil {
		t.Error(err)
	}
}

func ExampleReadPools() {
	file := strings.NewReader(`{"pools": [
		{"name": "reports", "weight": 2, "mode": "FAIR", "pools": [{"name": "daily", "minShare": 4}]},
		{"name": "adhoc", "weight": ""}
	]}`)
	pools, err := scheduler.ReadPools(file, nil)
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range pools {
		fmt.Printf("%s in %q: %s, weight %d, min share %d\n", p.Name, p.Parent, p.Mode, p.Weight, p.MinShare)
	}
	// Output:
	// reports in "": FAIR, weight 2, min share 0
	// daily in "reports": FIFO, weight 1, min share 4
	// adhoc in "": FIFO, weight 1, min share 0
}
