package scheduler

import "slices"

// How a Summary hears of events. A listener may have missed some of them: what is not known is passed over.

func (s *Summary) jobStarted(e JobStarted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &jobRecord{JobSummary: JobSummary{Job: e.Job, Name: e.Name, Site: e.Site, Scope: e.Scope, Properties: e.Properties, Started: e.Time}}
	for _, info := range e.Stages {
		j.use(s, info)
	}
	s.jobs = append(s.jobs, j)
}

// use makes the job a user of a stage.
func (j *jobRecord) use(s *Summary, info StageInfo) {
	st := s.stages[info.Stage]
	if st == nil {
		st = &stageRecord{StageSummary: StageSummary{StageInfo: info}}
		s.stages[info.Stage] = st
	}
	st.jobs++
	j.stages = append(j.stages, info.Stage)
}

func (s *Summary) jobEnded(e JobEnded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := 0
	for _, j := range s.jobs {
		if j.Job == e.Job {
			j.Ended, j.Err, j.skipped = e.Time, e.Err, e.Skipped
		}
		if !j.Ended.IsZero() {
			ended++
		}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *jobRecord) bool {
		if j.Ended.IsZero() || ended <= s.keep {
			return false
		}
		ended--
		for _, id := range j.stages {
			if st := s.stages[id]; st != nil {
				if st.jobs--; st.jobs == 0 {
					delete(s.stages, id)
				}
			}
		}
		return true
	})
}

func (s *Summary) stageSubmitted(e StageSubmitted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stages[e.Stage]
	if st == nil {
		// A stage that a job turned out to need later on.
		if i := slices.IndexFunc(s.jobs, func(j *jobRecord) bool { return j.Ended.IsZero() }); i >= 0 {
			s.jobs[i].use(s, e.StageInfo)
		}
		if st = s.stages[e.Stage]; st == nil {
			return
		}
	}
	st.StageInfo = e.StageInfo
	st.Attempts++
	st.Running, st.Err = true, nil
	if st.Submitted.IsZero() {
		st.Submitted = e.Time
	}
}

func (s *Summary) stageCompleted(e StageCompleted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.stages[e.Stage]; st != nil {
		st.StageInfo = e.StageInfo
		st.Running, st.Completed, st.Err = false, e.Time, e.Err
	}
}

func (s *Summary) taskStarted(e TaskStarted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stages[e.Attempt.Stage]
	if st == nil {
		return
	}
	st.Launched++
	switch {
	case e.Speculative:
		st.Copies++
	case e.Attempt.Number > 0:
		st.Retries++
	}
}

func (s *Summary) taskEnded(e TaskEnded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stages[e.Attempt.Stage]
	if st == nil {
		return
	}
	switch {
	case e.Killed:
		st.Killed++
	case e.Err != nil:
		st.Failed++
	default:
		st.Succeeded++
		st.took = append(st.took, e.Ended.Sub(e.Time))
	}
	addMetrics(&st.Metrics, e.Metrics)
}
