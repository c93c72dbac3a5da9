package scheduler_test

import (
	"fmt"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// doJobs does the commands about how jobs are told apart, ended and kept from each other:
//
//	options mode=fair resultsize=100 stageattempts=3
//	pool NAME [weight=2] [min=3] [mode=fair] [parent=POOL]
//	indeterminate NAME               running NAME again may bring other rows
//	job NAME [pool=P] [group=G] [tags=A,B] [update=panics] [PARTS...]
//	mapjob NAME [pool=P] ...         writes the shuffle that NAME reads, and no more
//	cancelgroup GROUP [future], canceltag TAG, canceljob JOB, cancelstage STAGE, cancelall
//	ask STAGE.ATTEMPT PART [@EXECUTOR]      the newest attempt asks whether it may commit
//	denied STAGE.ATTEMPT PART [@EXECUTOR]   and ends because it may not
//	large STAGE.ATTEMPT PART BYTES   succeeds with a result of that size
//	add STAGE.ATTEMPT PART N [@EXECUTOR]    succeeds and has added N to an accumulator
//	exists STAGE.ATTEMPT PART PATH   fails since its output is there already
func (s *script) doJobs(f []string) bool {
	switch f[0] {
	case "pool":
		s.pool(f)
	case "indeterminate":
		s.nodes[f[1]].Class = lineage.Indeterminate
	case "job", "mapjob":
		s.job(f)
	case "cancelgroup":
		s.loop.CancelGroup(f[1], len(f) > 2)
	case "canceltag":
		s.loop.CancelTag(f[1])
	case "canceljob":
		s.loop.CancelJob(s.number(f[1]))
	case "cancelstage":
		s.loop.CancelStage(s.number(f[1]))
	case "cancelall":
		s.loop.CancelAll()
	case "ask":
		for _, task := range s.tasks(f[1], f[2:3], on(f)) {
			answer := "no"
			if s.loop.MayCommit(task.ID) {
				answer = "yes"
			}
			fmt.Fprintf(&s.said, "  may %s commit: %s\n", name(scheduler.TaskStarted{Attempt: task.Attempt}), answer)
		}
	case "denied":
		for _, task := range s.tasks(f[1], f[2:3], on(f)) {
			at := task.Attempt
			s.end(&scheduler.TaskEnd{Task: task.ID, Err: &scheduler.CommitDeniedError{
				Stage: at.Stage, Partition: at.Partition, Attempt: at.Number}})
		}
	case "large":
		for _, task := range s.tasks(f[1], f[2:3], "") {
			end := schedulertest.Success(task, []int64{})
			end.Metrics.ResultBytes = int64(s.number(f[3]))
			s.end(end)
		}
	case "add":
		for _, task := range s.tasks(f[1], f[2:3], on(f)) {
			end := schedulertest.Success(task, []int64{})
			end.Updates = []lineage.Update{{ID: 1, Name: "rows", Value: s.number(f[3])}}
			s.end(end)
		}
	case "exists":
		for _, task := range s.tasks(f[1], f[2:3], "") {
			s.end(&scheduler.TaskEnd{Task: task.ID, Err: &scheduler.OutputExistsError{Path: f[3]}})
		}
	default:
		return false
	}
	return true
}

// on returns the executor a command names, if it does.
func on(f []string) string {
	if last := f[len(f)-1]; strings.HasPrefix(last, "@") {
		return last[1:]
	}
	return ""
}

// jobOption sets an option of the scheduler that doJobs knows.
func (s *script) jobOption(o *scheduler.Options, key, value string) {
	switch key {
	case "mode":
		o.Mode = mode(value)
	case "resultsize":
		o.MaxResultSize = int64(s.number(value))
	case "stageattempts":
		o.MaxStageAttempts = s.number(value)
	}
}

func mode(text string) scheduler.Mode {
	if text == "fair" {
		return scheduler.FAIR
	}
	return scheduler.FIFO
}

// pool adds a pool to a scheduler that does nothing yet.
func (s *script) pool(f []string) {
	p := scheduler.Pool{Name: f[1]}
	for _, kv := range f[2:] {
		switch k, v, _ := strings.Cut(kv, "="); k {
		case "weight":
			p.Weight = s.number(v)
		case "min":
			p.MinShare = s.number(v)
		case "mode":
			p.Mode = mode(v)
		case "parent":
			p.Parent = v
		}
	}
	s.pools = append(s.pools, p)
	if err := (scheduler.Options{Pools: s.pools}).Validate(); err != nil {
		s.t.Fatal(err)
	}
	s.open(scheduler.Options{Mode: scheduler.FAIR, Pools: s.pools})
}

// job submits a job with properties.
func (s *script) job(f []string) {
	n := s.nodes[f[1]]
	var props lineage.Properties
	update := func(u lineage.Update) { fmt.Fprintf(&s.said, "  update %s +%d\n", u.Name, u.Value) }
	var parts []int
	for _, arg := range f[2:] {
		switch k, v, set := strings.Cut(arg, "="); {
		case !set:
			parts = append(parts, s.number(k))
		case k == "pool":
			props.Pool = v
		case k == "group":
			props.Group = v
		case k == "tags":
			props.Tags = strings.Split(v, ",")
		case k == "update":
			update = func(lineage.Update) { panic("no such accumulator") }
		}
	}
	job, _ := schedulertest.Collect(n, parts...)
	if f[0] == "mapjob" {
		job = lineage.Job{Name: "map", Site: "test.go:1", Map: n.ShuffleOf(), Sizes: func(sizes [][]int64) {
			fmt.Fprintf(&s.said, "  sizes %v\n", sizes)
		}}
	} else {
		done := job.Done
		job.Done = func(i int, b lineage.Block) error {
			fmt.Fprintf(&s.said, "  result %d\n", i)
			return done(i, b)
		}
	}
	job.Properties, job.Update = props, update
	s.cancels = append(s.cancels, s.loop.Submit(job))
}
