package crashtest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest/crashtest"
)

// A running total of words, saved to a sink, and a mail for each batch that nothing can take back.
func Example() {
	report, err := crashtest.Explore(context.Background(), crashtest.Program{
		Batches: 3,
		Sample:  60,
		Setup: func(ssc *streamingcontext.Context, w *crashtest.World) error {
			lines := crashtest.Input(ssc, w, "lines", [][]string{{"ada bo"}, {"ada"}, {"bo bo"}})
			words := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
			crashtest.Save(dstream.UpdateStateByKey(words, addUp), w, "totals")

			mails := w.Effects("mails")
			dstream.ForeachRDD(words, func(_ context.Context, _ *rdd.RDD[rdd.Pair[string, int64]], t dstream.Time) error {
				return mails.Do(t, func() error { return nil }) // send it here
			})
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("promises broken:", len(report.Broken))
	fmt.Println("points not hit:", len(report.Missed))
	for _, e := range report.Effects {
		fmt.Printf("%s: at least once, again in some cases: %t\n", e.Name, e.Cases > 0)
	}
	// Output:
	// promises broken: 0
	// points not hit: 0
	// mails: at least once, again in some cases: true
}
