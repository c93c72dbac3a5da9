// Package rate computes how many records a second a receiver may store from how long its batches took.
//
// # Nouns
//
// An [Estimator] is told of each [Batch] that is over and answers with a rate. A [PID] is an estimator: a controller
// with a proportional, an integral and a derivative term. [New] makes an estimator by its name.
//
// # A program
//
//	e, err := rate.New(rate.Default, time.Second, rate.PIDOptions{})
//	if err != nil {
//		return err
//	}
//	perSecond, ok := e.Estimate(rate.Batch{Ended: 2000, Records: 800, Processing: time.Second})
//	if ok {
//		supervisor.SetRate(int64(perSecond))
//	}
//
// # Guarantees
//
// A batch without records tells nothing about speed, and changes nothing: however many of them come, the rate stays
// what it was. The same batches give the same rates, to the last bit. A rate is never below the least one that the
// options name.
//
// # Who may call what
//
// An estimator belongs to one stream. Its owner calls it from one goroutine at a time.
//
// # What is not here
//
// The limiter that makes a receiver keep to a rate (package receivers), and who tells estimators of batches (package
// streamingcontext). What a receiver stores as whole blocks is not limited by rate.
//
// Sources: Spark Streaming Programming Guide, "Performance Tuning", on back-pressure; Åström and Murray, "Feedback
// Systems", 2008, chapter "PID Control".
package rate
