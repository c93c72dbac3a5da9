package scheduler

import (
	"fmt"
	"slices"
)

// maxCanceledGroups is how many groups are remembered whose later jobs are to fail; the one that was
// cancelled first makes room.
const maxCanceledGroups = 1000

// CancelGroup cancels the running jobs of a group, named by their Properties; with future, also those
// that are submitted later, for the 1000 groups cancelled last.
//
// It returns at once; each job's Run returns a *CanceledError, for which errors.Is finds ErrCanceled.
// Tasks' contexts are cancelled, in all attempts of the stages that no other job uses; stages that
// other jobs use too go on. A group without jobs is left alone. The same holds for CancelTag,
// CancelJob, CancelStage and CancelAll.
func (s *Scheduler) CancelGroup(group string, future bool) {
	s.inbox.post(cancelGroup(group, future))
}

// CancelTag cancels the running jobs that have a tag.
func (s *Scheduler) CancelTag(tag string) { s.inbox.post(cancelTag(tag)) }

// CancelJob cancels a running job, by the number that listeners are told.
func (s *Scheduler) CancelJob(id int) { s.inbox.post(cancelJob(id)) }

// CancelStage cancels all running jobs that use a stage, by the number that listeners are told.
func (s *Scheduler) CancelStage(id int) { s.inbox.post(cancelStage(id)) }

// CancelAll cancels all running jobs.
func (s *Scheduler) CancelAll() { s.inbox.post(cancelAll()) }

func cancelGroup(group string, future bool) jobsCanceled {
	return jobsCanceled{
		match:  func(j *job) bool { return j.spec.Properties.Group == group },
		reason: fmt.Sprintf("group %q was canceled", group), group: group, future: future,
	}
}

func cancelTag(tag string) jobsCanceled {
	return jobsCanceled{
		match:  func(j *job) bool { return slices.Contains(j.spec.Properties.Tags, tag) },
		reason: fmt.Sprintf("tag %q was canceled", tag),
	}
}

func cancelJob(id int) jobsCanceled {
	return jobsCanceled{match: func(j *job) bool { return j.id == id }, reason: "by its number"}
}

func cancelStage(id int) jobsCanceled {
	return jobsCanceled{
		match: func(j *job) bool {
			return slices.ContainsFunc(j.stages, func(st *stage) bool { return st.id == id })
		},
		reason: fmt.Sprintf("stage %d was canceled", id),
	}
}

func cancelAll() jobsCanceled {
	return jobsCanceled{match: func(*job) bool { return true }, reason: "with all others"}
}

type jobsCanceled struct {
	match  func(*job) bool
	reason string
	group  string // to be remembered, if future
	future bool
}

func (ev jobsCanceled) apply(l *loop) {
	if ev.future && !slices.Contains(l.canceledGroups, ev.group) {
		if len(l.canceledGroups) == maxCanceledGroups {
			l.canceledGroups = slices.Delete(l.canceledGroups, 0, 1)
		}
		l.canceledGroups = append(l.canceledGroups, ev.group)
	}
	for _, j := range slices.Clone(l.jobs) {
		// One job's end may end another, by what is called on the way.
		if !j.ended && ev.match(j) {
			l.endJob(j, j.canceled(ev.reason))
		}
	}
}

// refused returns why a new job must not run, nil if it may.
func (l *loop) refused(j *job) error {
	switch {
	case j.planErr != nil:
		return j.fail(j.planErr)
	case l.backendErr != nil:
		return j.fail(l.backendErr)
	case len(l.canceledGroups) > 0 && slices.Contains(l.canceledGroups, j.spec.Properties.Group):
		return j.canceled(fmt.Sprintf("group %q was canceled", j.spec.Properties.Group))
	}
	return nil
}

func (j *job) canceled(reason string) error {
	return &CanceledError{Job: j.id, Name: j.spec.Name, Site: j.spec.Site, Err: ErrCanceled, Cause: canceledReason(reason)}
}

// A canceledReason says what was asked for.
type canceledReason string

func (r canceledReason) Error() string { return string(r) }
