package streamingcontext_test

import (
	"testing"

	"github.com/leat-io/leat/streamingcontext"
)

func TestActiveOrCreate_X8(t *testing.T) {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	created := 0
	active := func() *streamingcontext.Context {
		t.Helper()
		ssc, err := engine.ActiveOrCreate(func() (*streamingcontext.Context, error) {
			created++
			opts, _ := seconds()
			opts.EngineOptions, opts.Engine = streamingcontext.EngineOptions{}, engine
			ssc := streamingcontext.New(opts)
			discard(nothing(ssc))
			return ssc, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return ssc
	}
	first := active()
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := active(); again != first || created != 1 {
		t.Errorf("another context, %d were created", created)
	}
	stop(t, first)
	if other := active(); other == first || created != 2 {
		t.Errorf("the same context behind its stop, %d were created", created)
	}
}
