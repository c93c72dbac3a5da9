package scheduler

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// mapOnly reports whether a job is over when a shuffle's outputs are all there.
func (j *job) mapOnly() bool { return j.spec.Map != nil }

// endMapJobs ends the jobs that wanted nothing but the outputs of a stage, which are all there.
func (l *loop) endMapJobs(st *stage) {
	for i := 0; i < len(st.jobs); {
		j := st.jobs[i]
		if !j.mapOnly() || j.result != st {
			i++
			continue
		}
		l.endMapJob(j) // which takes it out of st.jobs
	}
}

// endMapJob ends a job whose outputs are all there.
func (l *loop) endMapJob(j *job) {
	if j.spec.Sizes != nil {
		err := guard(func() error {
			j.spec.Sizes(sizesOf(j.result.outputs, j.spec.Map))
			return nil
		})
		if err != nil {
			l.endJob(j, j.fail(fmt.Errorf("take sizes of shuffle %s: %w", j.spec.Map.ID, err)))
			return
		}
	}
	l.endJob(j, nil)
}

// sizesOf returns the bytes of every bucket, by map partition and reducer.
func sizesOf(o *mapOutputs, sh *lineage.Shuffle) [][]int64 {
	all := make([]int64, len(o.maps)*sh.NumReducers)
	sizes := make([][]int64, len(o.maps))
	for m := range sizes {
		sizes[m], all = all[:sh.NumReducers:sh.NumReducers], all[sh.NumReducers:]
		for r := range sizes[m] {
			sizes[m][r] = o.maps[m].Sizes.Of(r)
		}
	}
	return sizes
}
