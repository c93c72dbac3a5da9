// Package page gives the examples that stream a web page on which they can be watched.
package page

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/metrics"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/web"
)

// Flag adds -web to a flag set.
func Flag(f *flag.FlagSet) *string {
	return f.String("web", "", "host:port of a page to watch the program on, as localhost:4040 (default: none)")
}

// Show serves the page of ssc, which has not been started, at addr until stop is called; with an empty addr
// nothing.
func Show(ctx context.Context, addr string, ssc *streamingcontext.Context) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	store := progress.New(progress.Options{})
	ui, err := web.New(store, web.Options{Metrics: metrics.Handler(store)})
	if err != nil {
		return nil, err
	}
	l, err := ui.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "watch it at http://%s/streaming/\n", l.Addr())
	detach := store.Attach(ssc)
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := ui.Serve(ctx, l); err != nil {
			fmt.Fprintln(os.Stderr, "page:", err)
		}
	})
	return func() {
		cancel()
		serving.Wait()
		detach()
	}, nil
}
