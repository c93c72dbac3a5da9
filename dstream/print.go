package dstream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// rule is the line above and below the time of a batch.
var rule = strings.Repeat("-", 43)

// Print writes the first n records of every batch to w, below the batch's time:
//
//	-------------------------------------------
//	Time: 3000 ms
//	-------------------------------------------
//	(ada,2)
//	(bo,1)
//	...
//
// and an empty line. Three dots stand for more records.
//
// Cost: reads the partitions that n+1 records take, as rdd.RDD.Take.
// Errors: Start reports a negative n and a nil w; what w returns fails the batch.
func Print[T any](s *DStream[T], w io.Writer, n int) *Output {
	switch {
	case n < 0:
		return refused(s, "print", fmt.Errorf("%w: %d records", ErrArgument, n))
	case w == nil:
		return refused(s, "print", fmt.Errorf("%w: nil writer", ErrArgument))
	}
	return output(s, "print", func(ctx context.Context, r *rdd.RDD[T], t Time) error {
		rows, err := r.Take(ctx, n+1)
		if err != nil {
			return err
		}
		b := bufio.NewWriter(w)
		fmt.Fprintf(b, "%s\nTime: %s\n%s\n", rule, t, rule)
		for _, x := range rows[:min(n, len(rows))] {
			fmt.Fprintln(b, x)
		}
		if len(rows) > n {
			fmt.Fprintln(b, "...")
		}
		fmt.Fprintln(b)
		return b.Flush()
	})
}

// refused declares an output that Start reports err for.
func refused[T any](s *DStream[T], op string, err error) *Output {
	o := &Output{node: &node{op: op, parents: []*node{s.node}, slide: s.slide, output: true}}
	s.graph.declare(o.node, err)
	return o
}
