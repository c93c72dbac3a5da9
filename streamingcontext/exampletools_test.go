package streamingcontext_test

import (
	"context"
	"net/http"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// signalAfter returns a context that ends once seen was called with n records in all.
func signalAfter(n int) (ctx context.Context, seen func(records int)) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, func(records int) {
		if n -= records; n <= 0 {
			cancel()
		}
	}
}

// collectInto is an output that keeps all records.
func collectInto[T any](all *[]T, seen func(records int)) func(context.Context, *rdd.RDD[T], dstream.Time) error {
	return func(ctx context.Context, r *rdd.RDD[T], _ dstream.Time) error {
		rows, err := r.Collect(ctx)
		*all = append(*all, rows...)
		seen(len(rows))
		return err
	}
}

// post posts text and leaves no connection open.
func post(url, text string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Post(url, "text/plain", strings.NewReader(text))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
