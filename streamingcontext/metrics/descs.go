package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("leat_"+name, help, labels, nil)
}

var (
	receiversDesc    = desc("streaming_receivers", "Receivers, by whether they run.", "state")
	inputRecordsDesc = desc("streaming_input_records_total", "Records of batches that have started, by input.", "stream", "name")
	droppedDesc      = desc("streaming_dropped_events_total", "Events that were lost because a listener fell behind, by who told them.", "source")
)

func gauge(name, help string, value func(*progress.Snapshot) float64) scalar {
	return scalar{desc("streaming_"+name, help), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(*progress.Snapshot) float64) scalar {
	return scalar{desc("streaming_"+name, help), prometheus.CounterValue, value}
}

// lastCompleted is a gauge of the completed batch with the latest time.
func lastCompleted(name, help string, value func(progress.Batch) float64) scalar {
	return gauge("last_completed_batch_"+name, help, func(s *progress.Snapshot) float64 {
		if b, ok := s.LastCompleted(); ok {
			return value(b)
		}
		return -1
	})
}

// lastReceived is a gauge of the batch with the latest time, whatever its status.
func lastReceived(name, help string, value func(progress.Batch) float64) scalar {
	return gauge("last_received_batch_"+name, help, func(s *progress.Snapshot) float64 {
		if b, ok := s.LastReceived(); ok {
			return value(b)
		}
		return -1
	})
}

func span(d time.Duration, known bool) float64 {
	if !known {
		return -1
	}
	return d.Seconds()
}

// streamingMetrics are those of the program as a whole.
var streamingMetrics = []scalar{
	gauge("batch_interval_seconds", "How far apart batches are.", func(s *progress.Snapshot) float64 { return s.Interval.Seconds() }),
	gauge("start_time_seconds", "When the context started.", func(s *progress.Snapshot) float64 { return seconds(s.Started) }),
	counter("completed_batches_total", "Batches whose jobs have all ended, well or not.", func(s *progress.Snapshot) float64 { return float64(s.CompletedBatches) }),
	counter("failed_batches_total", "Completed batches with an output that failed.", func(s *progress.Snapshot) float64 { return float64(s.FailedBatches) }),
	counter("received_records_total", "Records of batches that have started.", func(s *progress.Snapshot) float64 { return float64(s.ReceivedRecords) }),
	counter("processed_records_total", "Records of batches that have completed.", func(s *progress.Snapshot) float64 { return float64(s.ProcessedRecords) }),
	gauge("unprocessed_batches", "Batches that wait or run.", func(s *progress.Snapshot) float64 { return float64(len(s.Waiting) + len(s.Running)) }),
	gauge("waiting_batches", "Batches whose jobs wait for their turn.", func(s *progress.Snapshot) float64 { return float64(len(s.Waiting)) }),
	gauge("running_batches", "Batches of which a job has started.", func(s *progress.Snapshot) float64 { return float64(len(s.Running)) }),
	gauge("retained_completed_batches", "Completed batches that are remembered.", func(s *progress.Snapshot) float64 { return float64(len(s.Completed)) }),
	lastCompleted("submission_time_seconds", "When the jobs of the last completed batch were queued.", func(b progress.Batch) float64 { return seconds(b.Submitted) }),
	lastCompleted("processing_start_time_seconds", "When the first of them started.", func(b progress.Batch) float64 { return seconds(b.Started) }),
	lastCompleted("processing_end_time_seconds", "When the last of them ended.", func(b progress.Batch) float64 { return seconds(b.Ended) }),
	lastCompleted("scheduling_delay_seconds", "How long the last completed batch waited for its turn.", func(b progress.Batch) float64 { return span(b.SchedulingDelay()) }),
	lastCompleted("processing_delay_seconds", "How long its jobs took.", func(b progress.Batch) float64 { return span(b.ProcessingDelay()) }),
	lastCompleted("total_delay_seconds", "Both together.", func(b progress.Batch) float64 { return span(b.TotalDelay()) }),
	lastReceived("submission_time_seconds", "When the jobs of the last batch were queued.", func(b progress.Batch) float64 { return seconds(b.Submitted) }),
	lastReceived("processing_start_time_seconds", "When the first of them started.", func(b progress.Batch) float64 { return seconds(b.Started) }),
	lastReceived("processing_end_time_seconds", "When the last of them ended.", func(b progress.Batch) float64 { return seconds(b.Ended) }),
	gauge("last_received_batch_records", "Records of the last batch.", func(s *progress.Snapshot) float64 {
		b, _ := s.LastReceived()
		return float64(b.Records())
	}),
}

// receiverMetrics are those of each receiver.
var receiverMetrics = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*progress.Receiver) float64
}{
	{desc("streaming_receiver_active", "Whether the receiver runs.", "stream", "name"), prometheus.GaugeValue,
		func(r *progress.Receiver) float64 {
			if r.Active {
				return 1
			}
			return 0
		}},
	{desc("streaming_receiver_starts_total", "How often it was started.", "stream", "name"), prometheus.CounterValue,
		func(r *progress.Receiver) float64 { return float64(r.Starts) }},
	{desc("streaming_receiver_errors_total", "Errors that it reported or ended with.", "stream", "name"), prometheus.CounterValue,
		func(r *progress.Receiver) float64 { return float64(r.Errors) }},
	{desc("streaming_receiver_last_error_time_seconds", "When its last error was, -1 if there was none.", "stream", "name"), prometheus.GaugeValue,
		func(r *progress.Receiver) float64 {
			if r.LastError == nil {
				return seconds(streamingcontext.Unknown)
			}
			return seconds(r.LastErrorAt)
		}},
}

// A count is a metric of the scheduler.
type count struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  func(*progress.SchedulerCounts) int64
	labels []string
}

var (
	jobsDesc   = desc("scheduler_jobs_total", "Jobs that have ended, by how.", "result")
	stagesDesc = desc("scheduler_stages_total", "Attempts of stages that have ended, and stages that were skipped.", "result")
	tasksDesc  = desc("scheduler_tasks_total", "Attempts of tasks that have ended, by how.", "result")
)

// schedulerMetrics are those of the scheduler, over all jobs.
var schedulerMetrics = []count{
	{desc("scheduler_jobs_running", "Jobs that run."), prometheus.GaugeValue, func(c *progress.SchedulerCounts) int64 { return c.JobsRunning }, nil},
	{jobsDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.JobsSucceeded }, []string{"succeeded"}},
	{jobsDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.JobsFailed }, []string{"failed"}},
	{desc("scheduler_stages_running", "Attempts of stages that run."), prometheus.GaugeValue, func(c *progress.SchedulerCounts) int64 { return c.StagesRunning }, nil},
	{stagesDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.StagesSucceeded }, []string{"succeeded"}},
	{stagesDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.StagesFailed }, []string{"failed"}},
	{stagesDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.StagesSkipped }, []string{"skipped"}},
	{desc("scheduler_tasks_running", "Attempts of tasks that run."), prometheus.GaugeValue, func(c *progress.SchedulerCounts) int64 { return c.TasksRunning }, nil},
	{tasksDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.TasksSucceeded }, []string{"succeeded"}},
	{tasksDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.TasksFailed }, []string{"failed"}},
	{tasksDesc, prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.TasksKilled }, []string{"killed"}},
	{desc("scheduler_executors", "Executors that live."), prometheus.GaugeValue, func(c *progress.SchedulerCounts) int64 { return c.Executors }, nil},
	{desc("scheduler_executors_lost_total", "Executors that were lost."), prometheus.CounterValue, func(c *progress.SchedulerCounts) int64 { return c.ExecutorsLost }, nil},
}

// valid is a label value: client_golang refuses what is not UTF-8.
func valid(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
