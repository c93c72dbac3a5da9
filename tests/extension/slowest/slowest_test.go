package slowest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/tests/extension/slowest"
)

func TestTheSlowestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := slowest.New(2)
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second,
			Listeners: []streamingcontext.Listener{slow.Listener()}})
		in := streamingcontext.Slices[int](ssc, nil, 1)
		takes := []time.Duration{100, 300, 50, 200, 10, 10, 10, 10}
		n := 0
		dstream.Print(in, new(strings.Builder), 1)
		dstream.ForeachRDD(in, func(context.Context, *rdd.RDD[int], dstream.Time) error {
			<-time.After(takes[n] * time.Millisecond)
			n++
			return nil
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(5500 * time.Millisecond)
		if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
			t.Fatal(err)
		}
		all := slow.All()
		if len(all) != 2 || all[0].Took != 300*time.Millisecond || all[1].Took != 200*time.Millisecond || all[0].Output.Name != "foreachRDD" {
			t.Errorf("slowest: %+v", all)
		}
		if got := slow.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "took 300ms, most of it in foreachRDD at slowest_test.go:") {
			t.Errorf("report: %s", got)
		}
	})
}
