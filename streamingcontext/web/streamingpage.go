package web

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// pageSize is how many completed batches a page lists.
const pageSize = 50

// streamingView is what the first page shows.
type streamingView struct {
	frame
	Interval, Uptime, Since string
	Batches, Records        string
	Overload                *overloadView
	Dropped                 int64
	Samples                 string // "last 100 batches, 2 active, 98 completed"
	Rows                    []statRow
	Inputs                  []inputRow
	ActiveErrors            bool
	Active                  []batchRow
	CompletedErrors         bool
	Completed               []batchRow
	Retained, Total         string
	Newer, Older            string // pages; empty: none
	Paused                  bool
}

// A statRow is a row of the table of statistics.
type statRow struct {
	Name, Average, Note string
	Timeline, Histogram template.HTML
}

// An inputRow is a row of the table of inputs.
type inputRow struct {
	statRow
	Status, Where, LastErrorAt, LastError string
}

// A batchRow is a row of a table of batches.
type batchRow struct {
	ID                            int64
	Time, Records                 string
	Scheduling, Processing, Total string
	Outputs, Status               string
	Failures                      []*failure
}

type overloadView struct {
	Text, Slowest string
	Batch         int64
}

func (s *Server) streamingPage(w http.ResponseWriter, r *http.Request) {
	snap := s.store.Snapshot()
	v := streamingView{
		frame:    frame{App: snap.App, Root: "./", Refresh: s.refresh(r)},
		Interval: durationText(snap.Interval), Uptime: verbose(snap.Uptime()),
		Batches: grouped(snap.CompletedBatches), Records: grouped(snap.ProcessedRecords),
		Dropped: snap.DroppedEvents + s.store.Scheduler().DroppedEvents,
		Paused:  s.opts.Refresh > 0 && r.URL.Query().Get("refresh") == "off",
	}
	times := calendar{s.opts.Zone, snap.Interval}
	if snap.Uptime() > 0 {
		v.Since = calendar{s.opts.Zone, time.Second}.date(snap.Started)
	}
	v.Overload = overloadOf(snap.Overload)
	active := len(snap.Waiting) + len(snap.Running)
	v.Samples = fmt.Sprintf("last %s, %d active, %d completed", counted(active+len(snap.Completed), "batch"), active, len(snap.Completed))
	v.Rows, v.Inputs = statistics(snap, times)
	for _, open := range [][]progress.Batch{snap.Waiting, snap.Running} {
		for _, b := range open {
			v.Active = append(v.Active, rowOf(b, times))
		}
	}
	v.ActiveErrors = anyFailed(v.Active)
	v.listCompleted(snap, times, r)
	s.show(w, http.StatusOK, "streaming.html", v)
}

// listCompleted fills in the page of completed batches that was asked for.
func (v *streamingView) listCompleted(snap progress.Snapshot, times calendar, r *http.Request) {
	n := len(snap.Completed)
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 1 || (page-1)*pageSize >= max(n, 1) || page > n {
		page = 1
	}
	for _, b := range snap.Completed[(page-1)*pageSize : min(page*pageSize, n)] {
		v.Completed = append(v.Completed, rowOf(b, times))
	}
	v.CompletedErrors = anyFailed(v.Completed)
	v.Retained, v.Total = grouped(int64(n)), grouped(snap.CompletedBatches)
	to := func(page int) string {
		if v.Paused {
			return fmt.Sprintf("?page=%d&refresh=off", page)
		}
		return fmt.Sprintf("?page=%d", page)
	}
	if page > 1 {
		v.Newer = to(page - 1)
	}
	if page*pageSize < n {
		v.Older = to(page + 1)
	}
}

func anyFailed(rows []batchRow) bool {
	for _, r := range rows {
		if len(r.Failures) > 0 {
			return true
		}
	}
	return false
}

func rowOf(b progress.Batch, times calendar) batchRow {
	row := batchRow{ID: int64(b.Time), Time: times.date(int64(b.Time)), Records: grouped(b.Records()),
		Scheduling: knownText(b.SchedulingDelay()), Processing: knownText(b.ProcessingDelay()), Total: knownText(b.TotalDelay()),
		Status: "processing"}
	if b.Status == progress.Queued {
		row.Status = "queued"
	}
	active, succeeded, failed := b.Outcomes()
	row.Outputs = fmt.Sprintf("%d/%d", succeeded, len(b.Outputs))
	if failed > 0 {
		row.Outputs += fmt.Sprintf(" (%d failed)", failed)
	}
	if active > 0 {
		row.Outputs += fmt.Sprintf(" (%d running)", active)
	}
	for _, o := range b.Outputs {
		if f := failureOf(o.Err); f != nil && len(row.Failures) < 3 {
			row.Failures = append(row.Failures, f)
		}
	}
	if b.SetAside != nil {
		row.Outputs += " (set aside)"
		if failed == 0 {
			row.Failures = append(row.Failures, failureOf(b.SetAside))
		}
	}
	return row
}

// statistics makes the rows of the table, and those of the single inputs.
func statistics(snap progress.Snapshot, times calendar) (rows []statRow, inputs []inputRow) {
	all := snap.Retained()
	rate := func(records int64) float64 {
		return float64(records) * 1000 / float64(max(snap.Interval.Milliseconds(), 1))
	}
	rates := make([]point, len(all))
	for i, b := range all {
		rates[i] = point{batch: int64(b.Time), value: rate(b.Records()), failed: b.Failed()}
	}
	top := math.Ceil(maxOf(rates))
	row := rateRow("Input Rate", rates, top, times)
	row.Note = fmt.Sprintf("Receivers: %d / %d active", snap.ActiveReceivers(), len(snap.Receivers))
	if len(snap.Receivers) == 0 {
		row.Note = "No receivers"
	}
	rows = append(rows, row)
	rows = append(rows, delayRows(snap, times)...)
	for _, in := range snap.Inputs {
		points := make([]point, len(all))
		for i, b := range all {
			points[i] = point{batch: int64(b.Time)}
			for _, got := range b.Inputs {
				if got.Stream == in.Stream {
					points[i].value = rate(got.Records)
				}
			}
		}
		one := inputRow{statRow: rateRow(in.Name, points, top, times), Status: "–", Where: "–", LastErrorAt: "–", LastError: "–"}
		for _, r := range snap.Receivers {
			if r.Stream != in.Stream {
				continue
			}
			one.Status = "INACTIVE"
			if r.Active {
				one.Status = "ACTIVE"
			}
			one.Where = "driver"
			if r.Executor != "" {
				one.Where = "driver, for " + string(r.Executor)
			}
			if r.LastError != nil {
				one.LastErrorAt = times.date(r.LastErrorAt)
				one.LastError = shortened(textOf(r.LastError))
			}
		}
		inputs = append(inputs, one)
	}
	return rows, inputs
}

func rateRow(name string, points []point, top float64, times calendar) statRow {
	c := chart{name: name, points: points, top: top, unit: "rec/s", times: times, link: batchLink}
	row := statRow{Name: name, Average: "Avg: –", Timeline: c.timeline(), Histogram: c.histogram()}
	if len(points) > 0 {
		row.Average = fmt.Sprintf("Avg: %.2f records/sec", mean(points))
	}
	return row
}

// delayRows makes the rows of the three delays, which share axis and unit.
func delayRows(snap progress.Snapshot, times calendar) []statRow {
	var longest time.Duration
	var delays [3][]point
	sums := [3]time.Duration{}
	for i := len(snap.Completed) - 1; i >= 0; i-- {
		b := snap.Completed[i]
		for k, delay := range []func() (time.Duration, bool){b.SchedulingDelay, b.ProcessingDelay, b.TotalDelay} {
			if d, ok := delay(); ok {
				longest = max(longest, d)
				sums[k] += d
				delays[k] = append(delays[k], point{batch: int64(b.Time), value: float64(d), failed: b.Failed()})
			}
		}
	}
	u := unitOf(longest)
	rows := make([]statRow, 3)
	for k, name := range []string{"Scheduling Delay", "Processing Time", "Total Delay"} {
		for i := range delays[k] {
			delays[k][i].value = u.in(time.Duration(delays[k][i].value))
		}
		c := chart{name: name, points: delays[k], top: u.in(longest), unit: u.name, times: times, link: batchLink}
		if name == "Processing Time" {
			c.mark, c.says = u.in(snap.Interval), "interval "+durationText(snap.Interval)
		}
		rows[k] = statRow{Name: name, Average: "Avg: –", Timeline: c.timeline(), Histogram: c.histogram()}
		if n := len(delays[k]); n > 0 {
			rows[k].Average = "Avg: " + durationText((sums[k] / time.Duration(n)).Round(time.Microsecond))
		}
	}
	return rows
}

func batchLink(batch int64) string { return fmt.Sprintf("batch/?id=%d", batch) }

func maxOf(points []point) float64 {
	top := 0.0
	for _, p := range points {
		top = max(top, p.value)
	}
	return top
}

func mean(points []point) float64 {
	sum := 0.0
	for _, p := range points {
		sum += p.value
	}
	return sum / float64(len(points))
}

// overloadOf says that the program falls behind; nil if it does not.
func overloadOf(o *streamingcontext.OverloadInfo) *overloadView {
	if o == nil {
		return nil
	}
	v := &overloadView{Text: fmt.Sprintf("Batches have waited %s for their turn; %s.", durationText(o.SchedulingDelay), waits(o.Waiting))}
	if o.Stage.Op != "" {
		v.Batch = int64(o.Completed)
		v.Slowest = fmt.Sprintf("%s at %s: %s, %.0f%% of its processing time",
			o.Stage.Op, o.Stage.Site, durationText(o.Stage.Time), 100*o.Stage.Share)
	}
	return v
}

func waits(n int) string {
	if n == 1 {
		return "1 batch waits"
	}
	return counted(n, "batch") + " wait"
}
