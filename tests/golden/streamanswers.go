package golden

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream"
)

// compare notes what a run that has ended did otherwise than the case wants.
func (r *streamRun) compare() {
	c := r.c
	if c.Build != nil {
		return
	}
	want := c.Want
	if c.Dev != "" {
		want = c.Leat // the rest is the other engine's answer
	}
	r.compareOutputs(want)
	if c.Dev != "" {
		return
	}
	if len(c.Asked) > 0 {
		wanted := slices.Sorted(slices.Values(c.Asked[0]))
		if got := r.asked.Sorted(); !slices.Equal(got, wanted) {
			r.differ("inputs asked", fmt.Errorf("got %v, want %v", got, wanted))
		}
	}
	if r.halted {
		return // order, events and the error are those of the end
	}
	if c.Order != nil {
		r.differ("order", Fact{r.outputs.Order()}.Matches("", c.Order))
	}
	if c.Events != nil {
		r.differ("events", Fact{r.events.Events()}.Matches("", c.Events))
	}
	var class string
	if c.Reported != nil {
		class = c.Reported.Error
	}
	if err := r.ssc.Err(); StreamErrorClass(err) != class || err != nil && class == "" {
		r.differ("reported", fmt.Errorf("got error %q (%v), want %q", StreamErrorClass(err), err, class))
	}
}

// compareOutputs compares every output's batches.
func (r *streamRun) compareOutputs(want map[string][]json.RawMessage) {
	seen := map[string]bool{}
	for _, o := range r.declared {
		seen[o.Name()] = true
		r.compareOutput(o, want[o.Name()])
	}
	for name := range want {
		if !seen[name] {
			r.differ("output "+name, fmt.Errorf("not declared"))
		}
	}
}

func (r *streamRun) compareOutput(o StreamOutput, want []json.RawMessage) {
	name := o.Name()
	got, parts := r.outputs.Batches(name)
	var wanted []dstream.Time
	raws := map[dstream.Time]json.RawMessage{}
	for _, raw := range want {
		var batch struct{ T dstream.Time }
		if err := json.Unmarshal(raw, &batch); err != nil {
			r.differ("output "+name, err)
			return
		}
		wanted = append(wanted, batch.T)
		raws[batch.T] = raw
	}
	if !slices.Equal(got, wanted) {
		r.differ("output "+name, fmt.Errorf("got batches %v, want %v", got, wanted))
	}
	for _, t := range got {
		raw, ok := raws[t]
		if !ok {
			continue
		}
		var answer Answer = parts[t]
		cmp := o.Cmp
		if r.c.Dev != "" {
			cmp = "bag"
		}
		if cmp == "bag" && (r.c.Dev != "" || !r.builder.Named[o.Of].counted) {
			answer = Rows(slices.Concat(parts[t]...))
		}
		r.differ(fmt.Sprintf("output %s, batch %d", name, int64(t)), answer.Matches(cmp, raw))
	}
}
