package streamingcontext

import (
	"fmt"
	"testing"
	"time"
)

func TestPaceGrowsAtOnceAndShrinksWithPatience(t *testing.T) {
	second := time.Second
	for name, test := range map[string]struct {
		opts DynamicInterval
		took []time.Duration
		want []int64
	}{
		"grows": {DynamicInterval{}, []time.Duration{0, 500 * time.Millisecond, 800 * time.Millisecond, 801 * time.Millisecond, 5 * second, time.Hour},
			[]int64{1, 1, 1, 2, 7, 10}},
		"shrinks to the most that was wanted": {DynamicInterval{}, []time.Duration{6 * second, second, 3 * second, second, second, second, second},
			[]int64{8, 8, 8, 4, 4, 4, 2}},
		"starts anew after a slow one": {DynamicInterval{}, []time.Duration{4 * second, 0, 0, 4 * second, 0, 0, 0},
			[]int64{5, 5, 5, 5, 5, 5, 1}},
		"options": {DynamicInterval{Max: 3500 * time.Millisecond, Target: 0.5, Patience: 1}, []time.Duration{second, second + 1, 2 * second, second, 0},
			[]int64{2, 3, 3, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			test.opts.Enabled = true
			p := newPace(test.opts, second)
			var got []int64
			for _, d := range test.took {
				now, _ := p.took(d)
				got = append(got, now)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("intervals %v, want %v", got, test.want)
			}
		})
	}
	if newPace(DynamicInterval{}, second) != nil {
		t.Error("a context without the option has a pace")
	}
}

func TestDynamicIntervalOptions(t *testing.T) {
	for _, o := range []Options{
		{DynamicInterval: DynamicInterval{Max: -1}}, {DynamicInterval: DynamicInterval{Max: time.Microsecond}},
		{DynamicInterval: DynamicInterval{Target: 1.1}}, {DynamicInterval: DynamicInterval{Target: -1}}, {DynamicInterval: DynamicInterval{Patience: -1}},
		{DynamicInterval: DynamicInterval{Enabled: true, Max: 500 * time.Millisecond}}, {Missed: 2}, {Missed: -1},
	} {
		o.Interval = time.Second
		if o.Validate() == nil {
			t.Errorf("%v, %v is accepted", o.DynamicInterval, o.Missed)
		}
	}
	o := Options{Interval: time.Second, Missed: MissedCoalesce, DynamicInterval: DynamicInterval{Enabled: true, Max: 4 * time.Second}}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
