package dstream

import (
	"github.com/leat-io/leat/dstream/internal/state"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/keyed"
)

// lentStates is stateRows for readers that may only look at most rows: those get keys that lie in the table of the states.
func lentStates[K comparable, S, T any](c *rdd.Context, op string, versions *rdd.RDD[*state.Version[K, S]], h *keyed.Hasher[K], pick func(s *S) T, show func(rows []rdd.Pair[K, T]) []rdd.Pair[K, T]) *rdd.RDD[rdd.Pair[K, T]] {
	type version = *state.Version[K, S]
	type pair = rdd.Pair[K, T]
	var own func(p pair) pair // nil where the type's keys are not lent
	if h != nil && h.Lends() {
		own = func(p pair) pair {
			p.Key = h.Own(p.Key)
			return p
		}
	}
	return rdd.MapRowsLending(versions.In(c), op, versions.Partitioner(), own, func(_ int, rows rdd.Rows[version], lend bool, out func([]pair) error) error {
		project := state.Project[K, S, T]
		if lend {
			project = state.ProjectLent[K, S, T]
		}
		v, err := onlyRecord(rows)
		if err != nil {
			return err
		}
		project(v, pick, func(rows []pair) bool {
			if rows = show(rows); len(rows) > 0 {
				err = out(rows)
			}
			return err == nil
		})
		return err
	})
}
