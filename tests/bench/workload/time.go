package workload

// Time is a point in event time: milliseconds since 1970-01-01 00:00 UTC.
type Time int64

// T0 is the time of record 0: 2023-11-14 22:13:20 UTC. It is a multiple of ten seconds and of four
// seconds, not of a minute.
const T0 Time = 1_700_000_000_000

// BatchMillis is the length of a batch in event time.
const BatchMillis = 1000

// How many records of each workload fall in one second of event time, and so in one batch.
const (
	TextPerSecond  = 10_000
	PairsPerSecond = 100_000
)

// EventTime returns the time of record i when perSecond records fall in each second.
//
// Shape: perSecond above 0; a perSecond of 0 gives T0.
func EventTime(i, perSecond int) Time {
	if perSecond == 0 {
		return T0
	}
	return T0 + Time(BatchMillis*int64(i)/int64(perSecond))
}

// Batch returns the number of the batch that t falls in, 0 for the second that starts at T0. Times
// before T0 have negative batches.
func Batch(t Time) int {
	d := t - T0
	if d < 0 {
		d -= BatchMillis - 1
	}
	return int(d / BatchMillis)
}
