package dstream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func twice(r *rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) { return r.Union(r), nil }

func TestOperator(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.Operator(input(d, []int{1, 2}, nil, []int{}), "twice", twice))
		d.run(3)
		equal(t, out.text(3), "1 1 2 2; none; -") // absent where the parent is
	})
}

func TestOperatorErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		f    func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error)
		want error
	}{
		"fails": {func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { return nil, broken }, broken},
		"nil":   {func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { return nil, nil }, dstream.ErrNilRDD},
		"exits": {func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { panic("no") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{})
			collect(dstream.Operator(input(d, []int{1}), "own", c.f))
			d.start()
			err := d.step()
			g, ok := errors.AsType[*dstream.GenerationError](err)
			if !ok || g.Op != "own" || !strings.HasPrefix(g.Site, "operator_test.go:") || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("step: %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		op   string
		f    func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error)
		want error
	}{"no name": {"", twice, dstream.ErrArgument}, "no function": {"own", nil, dstream.ErrNilFunction}} {
		d := newDriver(t, setup{})
		collect(dstream.Operator(input(d, []int{1}), c.op, c.f))
		err := d.graph.Start(0)
		if b, ok := errors.AsType[*dstream.BuildError](err); !ok || !errors.Is(err, c.want) || !strings.HasPrefix(b.Site, "operator_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The operator's name is part of what two graphs must share.
func TestOperatorsHaveFingerprintsOfTheirOwn(t *testing.T) {
	fingerprint := func(op string) string {
		d := newDriver(t, setup{})
		collect(dstream.Operator(input(d, []int{1}), op, twice))
		return d.graph.Fingerprint()
	}
	first, again, other := fingerprint("a"), fingerprint("a"), fingerprint("b")
	if first != again {
		t.Errorf("one graph built twice has two fingerprints: %v and %v", first, again)
	}
	if first == other {
		t.Errorf("operators a and b have one fingerprint: %v", first)
	}
}
