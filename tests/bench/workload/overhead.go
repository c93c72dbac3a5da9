package workload

import "fmt"

// Overhead is one job of the fixed-overhead workload (W7): no input, so that what is measured is
// what a batch costs before it does anything.
type Overhead struct {
	Stages int // 1, or 2 with a shuffle between them
	Tasks  int // tasks in each stage
}

// How many batches are run back to back.
const (
	OverheadBatches     = 2_000   // for percentiles
	OverheadLongBatches = 100_000 // for cost against batch number, which must stay flat
	OverheadQuick       = 200     // for a continuous check
)

// Sizes of the metadata log's entries: what is proposed, and what the bare file that it is compared
// with appends before each sync.
const (
	LogEntryBytes  = 200
	LogAppendBytes = 512
)

// String returns the job as a benchmark's name gives it.
func (o Overhead) String() string { return fmt.Sprintf("stages=%d/tasks=%d", o.Stages, o.Tasks) }

// Overheads returns all jobs of the workload, fewest stages and tasks first.
func Overheads() []Overhead {
	var jobs []Overhead
	for _, stages := range [...]int{1, 2} {
		for _, tasks := range [...]int{1, 4, 16, 64, 256, 1024} {
			jobs = append(jobs, Overhead{Stages: stages, Tasks: tasks})
		}
	}
	return jobs
}

// LogWriters returns the numbers of concurrent writers to the metadata log.
func LogWriters() []int { return []int{1, 8, 64, 512} }
