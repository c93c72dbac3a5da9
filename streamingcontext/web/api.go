package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// answer sends v as JSON.
func (s *Server) answer(w http.ResponseWriter, status int, v any) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		s.opts.Logger.Error("answer not made", "err", err)
		http.Error(w, "the answer could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // a reader that has gone needs no answer
}

func (s *Server) answerError(w http.ResponseWriter, status int, format string, args ...any) {
	s.answer(w, status, struct {
		Error string `json:"error"`
	}{fmt.Sprintf(format, args...)})
}

func (s *Server) apiStatistics(w http.ResponseWriter, _ *http.Request) {
	snap := s.store.Snapshot()
	active := snap.ActiveReceivers()
	a := apiStats{
		App: snap.App, StartTime: instant(snap.Started), BatchDuration: snap.Interval.Milliseconds(),
		NumReceivers: len(snap.Receivers), NumActiveReceivers: active, NumInactiveReceivers: len(snap.Receivers) - active,
		NumTotalCompletedBatches: snap.CompletedBatches, NumRetainedCompletedBatches: len(snap.Completed),
		NumActiveBatches: len(snap.Waiting) + len(snap.Running), NumProcessedRecords: snap.ProcessedRecords,
		NumReceivedRecords: snap.ReceivedRecords,
		AvgSchedulingDelay: average(snap.Completed, progress.Batch.SchedulingDelay),
		AvgProcessingTime:  average(snap.Completed, progress.Batch.ProcessingDelay),
		AvgTotalDelay:      average(snap.Completed, progress.Batch.TotalDelay),
	}
	if all := snap.Retained(); len(all) > 0 {
		var records int64
		for _, b := range all {
			records += b.Records()
		}
		rate := float64(records) * 1000 / float64(max(snap.Interval.Milliseconds(), 1)) / float64(len(all))
		a.AvgInputRate = &rate
	}
	s.answer(w, http.StatusOK, a)
}

// average returns the mean of what is known of a delay, in milliseconds.
func average(batches []progress.Batch, delay func(progress.Batch) (time.Duration, bool)) *int64 {
	var sum time.Duration
	n := 0
	for _, b := range batches {
		if d, ok := delay(b); ok {
			sum += d
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return millis(sum/time.Duration(n), true)
}

func (s *Server) apiReceivers(w http.ResponseWriter, _ *http.Request) {
	snap := s.store.Snapshot()
	all := []apiReceiverInfo{}
	for _, r := range snap.Receivers {
		all = append(all, receiverOf(r, snap))
	}
	s.answer(w, http.StatusOK, all)
}

func (s *Server) apiReceiver(w http.ResponseWriter, r *http.Request) {
	snap := s.store.Snapshot()
	id, err := strconv.Atoi(r.PathValue("id"))
	i := slices.IndexFunc(snap.Receivers, func(r progress.Receiver) bool { return r.Stream == id })
	if err != nil || i < 0 {
		s.answerError(w, http.StatusNotFound, "unknown receiver %q", r.PathValue("id"))
		return
	}
	s.answer(w, http.StatusOK, receiverOf(snap.Receivers[i], snap))
}

func receiverOf(r progress.Receiver, snap progress.Snapshot) apiReceiverInfo {
	a := apiReceiverInfo{StreamID: r.Stream, StreamName: r.Name, IsActive: r.Active, Starts: r.Starts, EventRates: [][2]float64{}}
	a.RateLimit = r.Rate
	if r.Executor != "" {
		id := string(r.Executor)
		a.ExecutorID = &id
	}
	if r.LastError != nil {
		a.LastErrorTime, a.LastErrorMessage = instant(r.LastErrorAt), errorText(r.LastError)
	}
	sum := 0.0
	for _, b := range snap.Retained() {
		rate := 0.0
		for _, in := range b.Inputs {
			if in.Stream == r.Stream {
				rate = float64(in.Records) * 1000 / float64(max(snap.Interval.Milliseconds(), 1))
			}
		}
		sum += rate
		a.EventRates = append(a.EventRates, [2]float64{float64(b.Time), rate})
	}
	if n := len(a.EventRates); n > 0 {
		avg := sum / float64(n)
		a.AvgEventRate = &avg
	}
	return a
}

func (s *Server) apiBatches(w http.ResponseWriter, r *http.Request) {
	snap := s.store.Snapshot()
	wanted := r.URL.Query()["status"]
	for _, status := range wanted {
		if !slices.Contains([]string{"COMPLETED", "QUEUED", "PROCESSING"}, status) {
			s.answerError(w, http.StatusBadRequest, "unknown status %q: there are COMPLETED, QUEUED and PROCESSING", status)
			return
		}
	}
	all := []apiBatchInfo{}
	for _, b := range slices.Backward(snap.Retained()) {
		if len(wanted) == 0 || slices.Contains(wanted, b.Status.String()) {
			all = append(all, batchOf(b, snap.Interval))
		}
	}
	s.answer(w, http.StatusOK, all)
}

func batchOf(b progress.Batch, interval time.Duration) apiBatchInfo {
	a := apiBatchInfo{
		BatchID: int64(b.Time), BatchTime: *instant(int64(b.Time)), Status: b.Status.String(), BatchDuration: interval.Milliseconds(),
		InputSize: b.Records(), SchedulingDelay: millis(b.SchedulingDelay()), ProcessingTime: millis(b.ProcessingDelay()),
		TotalDelay: millis(b.TotalDelay()), NumTotalOutputOps: len(b.Outputs),
	}
	a.NumActiveOutputOps, a.NumCompletedOutputOps, a.NumFailedOutputOps = b.Outcomes()
	for _, o := range b.Outputs {
		if o.Err != nil {
			a.FirstFailureReason = errorText(o.Err)
			break
		}
	}
	if a.FirstFailureReason == nil {
		a.FirstFailureReason = errorText(b.SetAside)
	}
	return a
}

// batch returns the batch that a request names, or answers that there is none.
func (s *Server) batch(w http.ResponseWriter, r *http.Request) (progress.Batch, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	b, ok := s.store.Batch(dstream.Time(id))
	if err != nil || !ok {
		s.answerError(w, http.StatusNotFound, "unknown batch %q", r.PathValue("id"))
		return progress.Batch{}, false
	}
	return b, true
}

func (s *Server) apiBatch(w http.ResponseWriter, r *http.Request) {
	if b, ok := s.batch(w, r); ok {
		s.answer(w, http.StatusOK, batchOf(b, s.store.Snapshot().Interval))
	}
}

func (s *Server) apiOperations(w http.ResponseWriter, r *http.Request) {
	b, ok := s.batch(w, r)
	if !ok {
		return
	}
	all := []apiOperationInfo{}
	for _, o := range b.Outputs {
		all = append(all, s.operationOf(o))
	}
	s.answer(w, http.StatusOK, all)
}

func (s *Server) apiOperation(w http.ResponseWriter, r *http.Request) {
	b, ok := s.batch(w, r)
	if !ok {
		return
	}
	op, err := strconv.Atoi(r.PathValue("op"))
	if err != nil || op < 0 || op >= len(b.Outputs) {
		s.answerError(w, http.StatusNotFound, "unknown output operation %q of batch %d", r.PathValue("op"), b.Time)
		return
	}
	s.answer(w, http.StatusOK, s.operationOf(b.Outputs[op]))
}

func (s *Server) operationOf(o streamingcontext.OutputInfo) apiOperationInfo {
	a := apiOperationInfo{OutputOpID: o.ID, Name: o.Name, Description: o.Name + " at " + o.Site, StartTime: instant(o.Started),
		EndTime: instant(o.Ended), Duration: millis(o.Duration()), FailureReason: errorText(o.Err), JobIDs: []int{}}
	for _, j := range s.store.Jobs(o.Batch, o.ID) {
		a.JobIDs = append(a.JobIDs, j.ID)
	}
	return a
}

// instant returns a time in milliseconds in the form of RFC 3339, nil for an unknown one.
func instant(ms int64) *string {
	if ms == streamingcontext.Unknown {
		return nil
	}
	s := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

func millis(d time.Duration, known bool) *int64 {
	if !known {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

func errorText(err error) *string {
	if err == nil {
		return nil
	}
	s := textOf(err)
	return &s
}
