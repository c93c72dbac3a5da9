package web

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// A batch page lists so many jobs of one output, and draws so many in all.
const (
	maxListed = 200
	maxDrawn  = 20
)

// batchView is what the page of a batch shows.
type batchView struct {
	frame
	Time, Status                  string
	Interval, Records             string
	Scheduling, Processing, Total string
	Failure                       *failure // of the batch as a whole
	Inputs                        []inputData
	Outputs                       []outputView
	Jobs                          []jobView // with a drawing
	Undrawn                       int
}

type inputData struct{ Name, Records, Description string }

// An outputView is an output of the batch; its jobs are rows of their own.
type outputView struct {
	ID               int
	Name, Site, Took string
	Status, Class    string
	Failure          *failure
	Jobs             []jobRow
	Span             int // rows it takes
	More             int // jobs that are not listed
}

type jobRow struct {
	ID            int
	Known, Drawn  bool
	Took          string
	Stages, Tasks string
	Failure       *failure
}

// A jobView is a job with its lineage.
type jobView struct {
	ID          int
	Name, Site  string
	Group, Text string
	Drawing     template.HTML
	Stages      []stageRow
}

type stageRow struct {
	ID           int
	Op, Site     string
	Status, Took string
	Tasks        string
	Failure      *failure
}

func (s *Server) batchPage(w http.ResponseWriter, r *http.Request) {
	snap := s.store.Snapshot()
	raw := r.URL.Query().Get("id")
	if raw == "" {
		s.refuse(w, http.StatusBadRequest, "../", "No batch", "The address names no batch: it ends in ?id= and the batch time in milliseconds.")
		return
	}
	id, err := strconv.ParseInt(raw, 10, 64)
	batch, found := s.store.Batch(dstream.Time(id))
	if err != nil || !found {
		s.refuse(w, http.StatusNotFound, "../", "Unknown batch", fmt.Sprintf("Nothing is known of a batch %s. It may have been forgotten.", shortened(raw)))
		return
	}
	times := calendar{s.opts.Zone, snap.Interval}
	v := batchView{
		frame: frame{App: snap.App, Root: "../"}, Time: times.date(id), Status: strings.ToLower(batch.Status.String()),
		Interval: durationText(snap.Interval), Records: grouped(batch.Records()),
		Scheduling: knownText(batch.SchedulingDelay()), Processing: knownText(batch.ProcessingDelay()), Total: knownText(batch.TotalDelay()),
	}
	if batch.SetAside != nil {
		v.Status = "set aside"
		if _, _, failed := batch.Outcomes(); failed == 0 {
			v.Failure = failureOf(batch.SetAside)
		}
	}
	if batch.Status != progress.Completed {
		v.Refresh = s.refresh(r)
	}
	for _, in := range batch.Inputs {
		v.Inputs = append(v.Inputs, inputData{inputName(snap, in.Stream), grouped(in.Records), strings.ReplaceAll(in.Description, "\t", "    ")})
	}
	p := &painter{operations: operationsByID(s.store), times: times}
	for _, o := range batch.Outputs {
		v.Outputs = append(v.Outputs, s.outputOf(o, p, &v))
	}
	s.show(w, http.StatusOK, "batch.html", v)
}

func inputName(snap progress.Snapshot, stream int) string {
	if stream >= 0 && stream < len(snap.Inputs) && snap.Inputs[stream].Name != "" {
		return snap.Inputs[stream].Name
	}
	return fmt.Sprintf("Input %d", stream)
}

func operationsByID(store *progress.Store) map[int32]dstream.Operation {
	ops := map[int32]dstream.Operation{}
	for _, op := range store.Operations() {
		ops[op.ID] = op
	}
	return ops
}

// outputOf makes the rows of an output, and draws its jobs.
func (s *Server) outputOf(o streamingcontext.OutputInfo, p *painter, v *batchView) outputView {
	out := outputView{ID: o.ID, Name: o.Name, Site: o.Site, Took: knownText(o.Duration()), Status: "–", Failure: failureOf(o.Err)}
	switch {
	case o.Err != nil:
		out.Status, out.Class = "Failed", "bad"
	case o.Ended != streamingcontext.Unknown:
		out.Status, out.Class = "Succeeded", "good"
	case o.Started != streamingcontext.Unknown:
		out.Class = "runs"
	}
	for i, j := range s.store.Jobs(o.Batch, o.ID) {
		if i >= maxListed {
			out.More++
			continue
		}
		row := jobRow{ID: j.ID, Known: j.Known, Took: "–", Stages: "–", Tasks: "–"}
		if j.Known {
			row.Took = roundText(j.Duration())
			row.Stages, row.Tasks = progressOf(j)
			row.Failure = failureOf(j.Err)
			if row.Failure != nil {
				row.Failure.First, _, _ = strings.Cut(row.Failure.Full, "\n")
			}
			if len(v.Jobs) < maxDrawn {
				row.Drawn = true
				v.Jobs = append(v.Jobs, jobOf(j, p))
			} else {
				v.Undrawn++
			}
		}
		out.Jobs = append(out.Jobs, row)
	}
	out.Span = max(len(out.Jobs), 1)
	if out.More > 0 {
		out.Span++
	}
	return out
}

// progressOf returns the stages and the tasks of a job that have succeeded, and how many there are.
func progressOf(j progress.Job) (stages, tasks string) {
	var done, all, skipped, tasksDone, tasksAll, failed int
	for _, st := range j.Stages {
		if st.Skipped {
			skipped++
			continue
		}
		all++
		if !st.Running && st.Err == nil && !st.Completed.IsZero() {
			done++
		}
		tasksDone += min(st.Succeeded, st.Tasks)
		tasksAll += st.Tasks
		failed += st.Failed
	}
	stages = fmt.Sprintf("%d/%d", done, all)
	if skipped > 0 {
		stages += fmt.Sprintf(" (%d skipped)", skipped)
	}
	tasks = fmt.Sprintf("%d/%d", tasksDone, tasksAll)
	if failed > 0 {
		tasks += fmt.Sprintf(" (%d failed)", failed)
	}
	return stages, tasks
}

func jobOf(j progress.Job, p *painter) jobView {
	v := jobView{ID: j.ID, Name: j.Name, Site: j.Site, Drawing: p.draw(j)}
	if j.Group != "" { // else the description says what the page says
		v.Group, v.Text = j.Group, j.Description
	}
	for _, st := range j.Stages {
		row := stageRow{ID: st.Stage, Op: p.operation(st), Site: st.Site, Took: roundText(st.Duration()), Tasks: "–", Failure: failureOf(st.Err)}
		switch {
		case st.Skipped:
			row.Status = "skipped"
		case st.Running:
			row.Status = "running"
		case st.Err != nil:
			row.Status = "failed"
		case st.Completed.IsZero():
			row.Status = "pending"
		default:
			row.Status = "succeeded"
		}
		if !st.Skipped {
			row.Tasks = fmt.Sprintf("%d/%d", min(st.Succeeded, st.Tasks), st.Tasks)
			if st.Failed > 0 {
				row.Tasks += fmt.Sprintf(" (%d failed)", st.Failed)
			}
		}
		v.Stages = append(v.Stages, row)
	}
	return v
}
