package web

// apiStats answers /streaming/statistics. Averages are over the retained batches, null without any.
type apiStats struct {
	App                         string   `json:"app"`
	StartTime                   *string  `json:"startTime"`
	BatchDuration               int64    `json:"batchDuration"`
	NumReceivers                int      `json:"numReceivers"`
	NumActiveReceivers          int      `json:"numActiveReceivers"`
	NumInactiveReceivers        int      `json:"numInactiveReceivers"`
	NumTotalCompletedBatches    int64    `json:"numTotalCompletedBatches"`
	NumRetainedCompletedBatches int      `json:"numRetainedCompletedBatches"`
	NumActiveBatches            int      `json:"numActiveBatches"`
	NumProcessedRecords         int64    `json:"numProcessedRecords"`
	NumReceivedRecords          int64    `json:"numReceivedRecords"`
	AvgInputRate                *float64 `json:"avgInputRate"`
	AvgSchedulingDelay          *int64   `json:"avgSchedulingDelay"`
	AvgProcessingTime           *int64   `json:"avgProcessingTime"`
	AvgTotalDelay               *int64   `json:"avgTotalDelay"`
}

type apiReceiverInfo struct {
	StreamID         int          `json:"streamId"`
	StreamName       string       `json:"streamName"`
	IsActive         bool         `json:"isActive"`
	ExecutorID       *string      `json:"executorId"`
	RateLimit        int64        `json:"rateLimit"` // records a second that it may store one by one, 0 for no limit
	Starts           int64        `json:"starts"`
	LastErrorTime    *string      `json:"lastErrorTime"`
	LastErrorMessage *string      `json:"lastErrorMessage"`
	AvgEventRate     *float64     `json:"avgEventRate"`
	EventRates       [][2]float64 `json:"eventRates"` // batch time in milliseconds, records a second
}

type apiBatchInfo struct {
	BatchID               int64   `json:"batchId"`
	BatchTime             string  `json:"batchTime"`
	Status                string  `json:"status"`
	BatchDuration         int64   `json:"batchDuration"`
	InputSize             int64   `json:"inputSize"`
	SchedulingDelay       *int64  `json:"schedulingDelay"`
	ProcessingTime        *int64  `json:"processingTime"`
	TotalDelay            *int64  `json:"totalDelay"`
	NumActiveOutputOps    int     `json:"numActiveOutputOps"`
	NumCompletedOutputOps int     `json:"numCompletedOutputOps"`
	NumFailedOutputOps    int     `json:"numFailedOutputOps"`
	NumTotalOutputOps     int     `json:"numTotalOutputOps"`
	FirstFailureReason    *string `json:"firstFailureReason"`
}

type apiOperationInfo struct {
	OutputOpID    int     `json:"outputOpId"`
	Name          string  `json:"name"`
	Description   string  `json:"description"`
	StartTime     *string `json:"startTime"`
	EndTime       *string `json:"endTime"`
	Duration      *int64  `json:"duration"`
	FailureReason *string `json:"failureReason"`
	JobIDs        []int   `json:"jobIds"`
}
