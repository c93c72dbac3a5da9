package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/web"
)

const (
	unknown = streamingcontext.Unknown
	// start is when the program of the fixture began: 14:04:30 on a day of 2021.
	start  = int64(1_630_505_070_000)
	second = int64(1000)
	// hostile is a name that must never be more than text: U-01.
	hostile = `<script>alert("x")</script><img src=x onerror=alert(1)>`
)

// fixture is a store that has heard of a program which falls behind: eight batches have completed, the fourth with a
// failure, one runs and two wait.
func fixture() *progress.Store {
	s := progress.New(progress.Options{
		App: "word counts", Interval: time.Second, Now: func() int64 { return start + 3723*second },
		Operations: []dstream.Operation{
			{ID: 1, Op: "socketText", Name: "Socket stream [0]", Site: "main.go:20"},
			{ID: 2, Op: "textFiles", Name: hostile, Site: "main.go:21"},
			{ID: 3, Op: "union", Site: "main.go:22", Parents: []int32{1, 2}},
			{ID: 4, Op: "flatMap", Site: "main.go:23", Parents: []int32{3}},
			{ID: 5, Op: "reduceByKey", Site: "main.go:24", Parents: []int32{4}},
			{ID: 6, Op: "foreachRDD", Site: "main.go:30", Output: true, Parents: []int32{5}},
			{ID: 7, Op: "print", Site: "main.go:40", Output: true, Parents: []int32{5}},
		},
	})
	l := s.Listener()
	l.StreamingStarted(start)
	r := streamingcontext.ReceiverInfo{Stream: 0, Name: "Socket stream [0]", Active: true, LastErrorAt: unknown}
	l.ReceiverStarted(r)
	r.LastError, r.LastErrorAt = errors.New("connection refused <b>"+hostile), start+200
	l.ReceiverError(r)
	jobs := s.SchedulerListener()
	ended := start
	for i := range int64(9) {
		at := start + (i+1)*second
		b := streamingcontext.BatchInfo{Time: dstream.Time(at), ID: i, Submitted: at + 3, Started: unknown, Ended: unknown,
			Inputs: []dstream.InputInfo{{Stream: 0, Records: 1000 + 300*(i%4)}, {Stream: 1, Records: 40 * i, Description: "a.txt\tnew\n" + hostile}},
			Outputs: []streamingcontext.OutputInfo{
				{Batch: dstream.Time(at), Name: "foreachRDD", Site: "main.go:30", Started: unknown, Ended: unknown},
				{Batch: dstream.Time(at), ID: 1, Name: "print", Site: "main.go:40", Started: unknown, Ended: unknown},
			}}
		l.BatchSubmitted(b)
		b.Started = max(ended, b.Submitted)
		b.Outputs[0].Started = b.Started
		l.BatchStarted(b)
		tellJob(jobs, int(2*i), at, 0)
		if i == 8 {
			l.OutputStarted(b.Outputs[0])
			break
		}
		tellJob(jobs, int(2*i+1), at, 1)
		ended = b.Started + 1100 + 90*i
		b.Ended, b.Outputs[0].Ended = ended, b.Started+700
		b.Outputs[1].Started, b.Outputs[1].Ended = b.Outputs[0].Ended, ended
		if i == 3 {
			b.Outputs[1].Err = errors.New("print: " + hostile + "\nand the rest of it")
		}
		l.BatchCompleted(b)
	}
	for i := range int64(2) {
		at := start + (10+i)*second
		l.BatchSubmitted(streamingcontext.BatchInfo{Time: dstream.Time(at), Submitted: at, Started: unknown, Ended: unknown,
			Inputs:  []dstream.InputInfo{{Stream: 0, Records: 900}},
			Outputs: []streamingcontext.OutputInfo{{Batch: dstream.Time(at), Started: unknown, Ended: unknown}}})
	}
	l.Overloaded(streamingcontext.OverloadInfo{Phase: streamingcontext.OverloadGrown, Batch: dstream.Time(start + 10*second),
		SchedulingDelay: 4100 * time.Millisecond, Waiting: 2, Interval: time.Second, Completed: dstream.Time(start + 8*second),
		ProcessingTime: 1730 * time.Millisecond, Stage: streamingcontext.StageTime{Op: hostile, Site: "main.go:31", Time: 900 * time.Millisecond, Share: 0.52}})
	return s
}

// tellJob tells of a job of two stages, of which the second job of a batch skips the first.
func tellJob(l scheduler.Listener, id int, batch int64, output int) {
	node := func(stream, ordinal int32) lineage.NodeID {
		return lineage.NodeID{Scope: lineage.Scope{Batch: batch, Stream: stream}, Ordinal: ordinal}
	}
	begin := time.UnixMilli(batch)
	p := lineage.Properties{Batch: batch, Output: output}
	first := scheduler.StageInfo{Stage: id, Op: "flatMap", Site: "main.go:23", Map: true, Parts: 4}
	last := scheduler.StageInfo{Stage: id + 1000, Op: "map", Site: "main.go:31", Parts: 2, Parents: []int{id}}
	if output == 1 {
		p.Group, p.Description = "shown", hostile
		first.Stage, last.Parents = id-1, []int{id - 1}
	}
	l.JobStarted(scheduler.JobStarted{Job: id, Name: "collect", Site: "main.go:32", Properties: p, Time: begin,
		Stages: []scheduler.StageInfo{first, last},
		RDDs: [][]scheduler.RDDInfo{
			{
				{ID: node(4, 0), Op: "flatMap", Site: "main.go:23", Parents: []lineage.NodeID{node(3, 0)}},
				{ID: node(3, 0), Op: "union", Site: "main.go:22", Parents: []lineage.NodeID{node(1, 0), node(2, 1)}},
				{ID: node(1, 0), Op: "blocks", Site: "main.go:20"},
				{ID: node(2, 1), Op: "union", Site: "main.go:21", Parents: []lineage.NodeID{node(2, 0)}},
				{ID: node(2, 0), Op: "textFile", Site: "main.go:21"},
			},
			{
				{ID: node(6, 1), Op: "map", Site: "main.go:31", Parents: []lineage.NodeID{node(6, 0)}},
				{ID: node(6, 0), Op: hostile, Site: "main.go:31", Parents: []lineage.NodeID{node(5, 0)}},
				{ID: node(5, 0), Op: "combineByKey", Site: "main.go:24", Marks: []string{"MEMORY_ONLY"}, Parents: []lineage.NodeID{node(4, 0)}},
			},
		}})
	done := scheduler.JobEnded{Job: id, Time: begin.Add(650 * time.Millisecond)}
	run := func(st scheduler.StageInfo, tasks int, from, to time.Duration) {
		l.StageSubmitted(scheduler.StageSubmitted{StageInfo: st, Tasks: tasks, Time: begin.Add(from), Properties: p})
		for part := range tasks {
			l.TaskEnded(scheduler.TaskEnded{TaskStarted: scheduler.TaskStarted{Attempt: lineage.Attempt{Stage: st.Stage, Partition: part}}})
		}
		l.StageCompleted(scheduler.StageCompleted{StageInfo: st, Tasks: tasks, Time: begin.Add(to)})
	}
	if output == 0 {
		run(first, 4, 0, 450*time.Millisecond)
	} else {
		done.Skipped = []int{first.Stage}
	}
	if batch == start+9*second { // the one that runs
		l.StageSubmitted(scheduler.StageSubmitted{StageInfo: last, Tasks: 2, Time: begin, Properties: p})
		return
	}
	run(last, 2, 450*time.Millisecond, 600*time.Millisecond)
	if batch == start+4*second && output == 1 {
		done.Err = errors.New("collect: " + hostile)
	}
	l.JobEnded(done)
}

// server shows the fixture in UTC.
func server(t *testing.T, s *progress.Store, change func(*web.Options)) *web.Server {
	t.Helper()
	opts := web.Options{Zone: time.UTC}
	if change != nil {
		change(&opts)
	}
	ui, err := web.New(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	return ui
}

// get returns what a handler answers.
func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}
