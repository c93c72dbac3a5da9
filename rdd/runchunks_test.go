package rdd

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestRunChunks(t *testing.T) {
	byUser := func(t *testing.T, what string, err error, text string) {
		t.Helper()
		var u *UserError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want a *UserError with %q", what, err, text)
		}
	}
	for _, r := range runners() {
		t.Run(r.name, func(t *testing.T) {
			c := newTestContext(t, r.open(t), Options{})
			src := Parallelize(c, upTo(5000), 3)
			sums := func(_ context.Context, part int, rows Rows[int]) (sum int, err error) {
				err = rows.Each(func(chunk []int) error {
					for _, x := range chunk {
						sum += x
					}
					return nil
				})
				return sum, err
			}
			got := must(RunChunks(t.Context(), src, "sum", sums))
			same(t, "sums", got[0]+got[1]+got[2], 5000*5001/2)
			same(t, "no partitions", len(must(RunChunks(t.Context(), Empty[int](c), "sum", sums))), 0)
			boom := errors.New("boom")
			_, err := RunChunks(t.Context(), src, "sum", func(ctx context.Context, part int, _ Rows[int]) (int, error) {
				if _, ok := TaskFrom(ctx); !ok {
					t.Error("it is not called in a task")
				}
				return 0, boom
			})
			byUser(t, "returned", err, "boom")
			_, err = RunChunks(t.Context(), src, "sum", func(context.Context, int, Rows[int]) (int, error) { panic("boom") })
			byUser(t, "panicked", err, "panic: boom")
			broken := Map(src, func(int) int { panic("upstream") })
			_, err = RunChunks(t.Context(), broken, "sum", func(_ context.Context, _ int, rows Rows[int]) (int, error) {
				_ = rows.Each(func([]int) error { return nil })
				return 0, nil
			})
			byUser(t, "cut short, and passed over", err, "upstream")
			_, err = RunChunks[int, int](t.Context(), src, "sum", nil)
			wantErr(t, "no function", err, ErrNilFunction)
		})
	}
}
