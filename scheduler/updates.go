package scheduler

import "log/slog"

// update hands on what a task has added to accumulators. What goes wrong there is logged only: the
// task's work is done.
func (l *loop) update(j *job, a *attempt, end *TaskEnd) {
	if j == nil || j.spec.Update == nil {
		return
	}
	for _, u := range end.Updates {
		err := apart(func() error {
			j.spec.Update(u)
			return nil
		})
		if err != nil {
			l.logAttempt(slog.LevelError, "accumulator "+u.Name+" not updated", a, err)
		}
	}
}

// updatesMaps returns the job that is told what map tasks of a stage have added: the first that wants
// to know, since a stage that jobs share runs once for all of them.
func (st *stage) updatesMaps() *job {
	for _, j := range st.jobs {
		if j.spec.Update != nil {
			return j
		}
	}
	return nil
}
