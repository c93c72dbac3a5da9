package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/leat-io/leat/dstream"
)

// compare notes what a run that has ended did otherwise than the case wants.
func (r *streamRun) compare() {
	c := r.c
	if c.Build != nil {
		return
	}
	lives := append(slices.Clone(r.lives), life{r.builder, r.asked, r.declared, r.outputs.nextLife()})
	if c.Dev != "" {
		r.compareLife(lives[0], "", c.Leat) // the rest is the other engine's answer
		return
	}
	for i, l := range lives {
		what, want := "", c.Want
		if i > 0 {
			what, want = fmt.Sprintf("recovery %d, ", i), nil
			if i <= len(c.Rerun) {
				want = c.Rerun[i-1]
			}
		}
		r.compareLife(l, what, want)
		if i >= len(c.Asked) {
			continue
		}
		wanted := slices.Sorted(slices.Values(c.Asked[i]))
		if got := l.asked.Sorted(); !slices.Equal(got, wanted) {
			r.differ(what+"inputs asked", fmt.Errorf("got %v, want %v", got, wanted))
		}
	}
	if len(c.Rerun) >= len(lives) {
		r.differ("recoveries", fmt.Errorf("got %d, want %d", len(lives)-1, len(c.Rerun)))
	}
	if c.Order != nil {
		r.differ("order", Fact{r.outputs.Order()}.Matches("", c.Order))
	}
	if c.Events != nil {
		events := r.events.Events()
		if len(r.lives) > 0 {
			events = byBatch(events)
		}
		r.differ("events", Fact{events}.Matches("", c.Events))
	}
	var class string
	if c.Reported != nil {
		class = c.Reported.Error
	}
	if err := r.ssc.Err(); StreamErrorClass(err) != class || err != nil && class == "" {
		r.differ("reported", fmt.Errorf("got error %q (%v), want %q", StreamErrorClass(err), err, class))
	}
}

// compareLife compares the batches of every output of a process.
func (r *streamRun) compareLife(l life, what string, want map[string][]json.RawMessage) {
	seen := map[string]bool{}
	for _, o := range l.declared {
		seen[o.Name()] = true
		r.compareOutput(l, what, o, want[o.Name()])
	}
	for name := range want {
		if !seen[name] {
			r.differ(what+"output "+name, fmt.Errorf("not declared"))
		}
	}
}

func (r *streamRun) compareOutput(l life, what string, o StreamOutput, want []json.RawMessage) {
	name, parts := o.Name(), l.batches[o.Name()]
	got := slices.Sorted(maps.Keys(parts))
	what += "output " + name
	var wanted []dstream.Time
	raws := map[dstream.Time]json.RawMessage{}
	for _, raw := range want {
		var batch struct{ T dstream.Time }
		if err := json.Unmarshal(raw, &batch); err != nil {
			r.differ(what, err)
			return
		}
		wanted = append(wanted, batch.T)
		raws[batch.T] = raw
	}
	if !slices.Equal(got, wanted) {
		r.differ(what, fmt.Errorf("got batches %v, want %v", got, wanted))
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
		if cmp == "bag" && (r.c.Dev != "" || !l.builder.Named[o.Of].counted) {
			answer = Rows(slices.Concat(parts[t]...))
		}
		r.differ(fmt.Sprintf("%s, batch %d", what, int64(t)), answer.Matches(cmp, raw))
	}
}
