package rate_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/rate"
)

// call is one batch in the units of the cases, and the estimate wanted for it; 0 means none.
type call struct {
	t, n, proc, sched int64
	want              float64
}

func (c call) batch() rate.Batch {
	return rate.Batch{Ended: c.t, Records: c.n,
		Processing: time.Duration(c.proc) * time.Millisecond, Scheduling: time.Duration(c.sched) * time.Millisecond}
}

func TestPID(t *testing.T) {
	const none = 0
	for _, test := range []struct {
		id       string
		interval time.Duration
		opts     rate.PIDOptions
		calls    []call
	}{
		{"P1", time.Second, rate.PIDOptions{}, []call{
			{1000, 500, 500, 0, none}, {2000, 800, 1000, 0, 800}, {3000, 600, 1500, 500, 360}, {4000, 100, 2000, 1500, 100}}},
		{"P2", time.Second, rate.PIDOptions{}, []call{
			{1000, 400, 800, 0, none}, {2000, 0, 500, 0, none}, {2500, 300, 0, 0, none}, {3000, 900, 900, 0, 1000},
			{3000, 900, 900, 0, none}, {2900, 10, 10, 0, none}, {4000, 300, 1000, 200, 288}}},
		{"P3", time.Second, rate.PIDOptions{Proportional: 0.5, Integral: 0.2, Derived: 0.1, MinRate: 100}, []call{
			{1000, 1000, 1000, 0, none}, {2000, 600, 1000, 0, 760}, {4000, 800, 1000, 400, 738}}},
		{"P4", 2 * time.Second, rate.PIDOptions{Integral: 1, MinRate: 10}, []call{
			{2000, 2000, 1000, 0, none}, {4000, 2000, 1000, 500, 1500}, {6000, 2000, 1000, 1000, 500}}},
		{"P5", 20 * time.Millisecond, rate.PIDOptions{Proportional: 1, MinRate: 10}, []call{
			{0, 10, 10, 0, none}, {10, 20, 10, 0, 2000}}},
	} {
		t.Run(test.id, func(t *testing.T) {
			p, err := rate.NewPID(test.interval, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range test.calls {
				got, ok := p.Estimate(c.batch())
				if ok != (c.want != none) || math.Abs(got-c.want) > 1e-9 {
					t.Errorf("call %d: %v, %t; want %v", i, got, ok, c.want)
				}
			}
		})
	}
}

func TestEstimatorsThatCannotBe_P6(t *testing.T) {
	good := rate.DefaultPID()
	for name, change := range map[string]func(o *rate.PIDOptions){
		"Proportional": func(o *rate.PIDOptions) { o.Proportional = -1 },
		"Integral":     func(o *rate.PIDOptions) { o.Integral = -0.1 },
		"Derived":      func(o *rate.PIDOptions) { o.Derived = math.NaN() },
		"MinRate":      func(o *rate.PIDOptions) { o.MinRate = 0 },
		"MinRate/<0":   func(o *rate.PIDOptions) { o.MinRate = -5 },
	} {
		o := good
		change(&o)
		_, err := rate.NewPID(time.Second, o)
		if e, ok := errors.AsType[*receivers.OptionError](err); !ok || e.Option != name[:len(e.Option)] {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := rate.NewPID(0, good)
	if e, ok := errors.AsType[*receivers.OptionError](err); !ok || e.Option != "Interval" {
		t.Errorf("interval 0: %v", err)
	}
	if _, err := rate.New("x", time.Second, good); !errors.Is(err, rate.ErrUnknown) {
		t.Errorf("estimator x: %v", err)
	}
	for _, name := range []string{"", rate.Default} {
		if _, err := rate.New(name, time.Second, rate.PIDOptions{}); err != nil {
			t.Errorf("estimator %q: %v", name, err)
		}
	}
}

// Whatever batches come, a rate is finite and not below the least, and batches without records change nothing.
// Shows B-01.
func TestPIDNeverGoesBelowTheLeastRate_B01(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, _ := rate.NewPID(time.Second, rate.PIDOptions{})
		twin, _ := rate.NewPID(time.Second, rate.PIDOptions{})
		at := int64(0)
		for range rapid.IntRange(1, 50).Draw(rt, "batches") {
			at += rapid.Int64Range(0, 5000).Draw(rt, "step")
			c := call{t: at, n: rapid.Int64Range(0, 1e6).Draw(rt, "records"),
				proc: rapid.Int64Range(0, 1e5).Draw(rt, "processing"), sched: rapid.Int64Range(0, 1e6).Draw(rt, "scheduling")}
			got, ok := p.Estimate(c.batch())
			if ok && (c.n == 0 || !(got >= 100) || math.IsInf(got, 0)) {
				rt.Fatalf("%+v: rate %v", c, got)
			}
			if c.n > 0 { // the twin never hears of empty batches
				if same, also := twin.Estimate(c.batch()); same != got || also != ok {
					rt.Fatalf("%+v: rate %v, without the empty batches %v", c, got, same)
				}
			}
		}
	})
}

func ExampleNewPID() {
	p, err := rate.NewPID(time.Second, rate.PIDOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range []rate.Batch{
		{Ended: 1000, Records: 500, Processing: 500 * time.Millisecond},
		{Ended: 2000, Records: 800, Processing: time.Second},
		{Ended: 3000, Records: 0, Processing: 5 * time.Millisecond},
		{Ended: 4000, Records: 600, Processing: 1500 * time.Millisecond, Scheduling: 500 * time.Millisecond},
	} {
		fmt.Println(p.Estimate(b))
	}
	// Output:
	// 0 false
	// 800 true
	// 0 false
	// 360 true
}
