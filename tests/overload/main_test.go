package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A few seconds of overload in real time. How long batches wait then depends on the machine and on what else it does, so
// only what must hold anywhere is demanded; package streamingcontext has the delays, on a clock of its own.
func TestNothingIsLostUnderLoad_C5(t *testing.T) {
	for _, args := range []string{"-initial 500", "-backpressure=false"} {
		t.Run(args, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), append(strings.Fields(args), "-for", "1s", "-interval", "100ms"), &out)
			if err != nil && !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			for _, want := range []string{"\nlost\tok", "\nheap\tok", "\nlag\tok"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
		})
	}
}

func TestBounds(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	o.capacity, o.pending = 1000, 5000
	good := func() *measured {
		m := &measured{accepted: done{records: 10, ids: 45}, processed: done{records: 10, ids: 45, fruit: 1}, batches: 70, settled: 50, caughtUp: true}
		m.most.settledDelay = 2 * time.Second
		m.heap.most, m.heap.settled = 60<<20, 50<<20
		return m
	}
	for name, spoil := range map[string]func(*measured){
		"":             func(*measured) {},
		"lost":         func(m *measured) { m.processed.ids++ },
		"delay":        func(m *measured) { m.most.settledDelay = 3 * time.Second },
		"backlog":      func(m *measured) { m.backlog = 5001 },
		"settled heap": func(m *measured) { m.heap.settled = 66 << 20 },
		"heap":         func(m *measured) { m.heap.most = 1 << 30 },
		"lag":          func(m *measured) { m.caughtUp = false },
	} {
		m, out := good(), new(bytes.Buffer)
		spoil(m)
		err := m.check(o, out)
		if (err != nil) != (name != "") || name != "" && !strings.Contains("\n"+out.String(), "\n"+name+"\tBROKEN") {
			t.Errorf("%q: %v\n%s", name, err, out)
		}
	}
	if _, err := parse([]string{"-factor", "0"}); err == nil {
		t.Error("a factor of 0 was taken")
	}
}
