// Package metrics shows a streaming program to Prometheus.
//
// # Nouns
//
// A [Collector] turns a progress store into metrics when it is asked, and keeps nothing itself. [Handler] is an
// http.Handler with a registry of its own for one. A [DriverCollector] does the same for a [Driver] of a cluster, and
// [DriverHandler] for both; package cluster serves that.
//
// # A program
//
//	store := progress.New(progress.Options{})
//	defer store.Attach(ssc)()
//	http.Handle("/metrics", metrics.Handler(store))
//
// # Guarantees
//
// Names begin with leat_streaming_ for the streaming program, with leat_scheduler_ for the scheduler and with leat_cluster_ for
// a driver of several; times are in seconds, counts in records, batches and so on. What is not known yet is -1, so that every series is there from
// the start. Nothing is registered anywhere but in the given registry: there is no global one.
//
// # Who may call what
//
// Any goroutine any function. A scrape copies what it needs, and never holds up the program.
//
// # What is not here
//
// Metrics of the Go process: register the collectors of client_golang beside this one for those.
//
// Sources: Spark Streaming Programming Guide, section "Monitoring Applications"; Prometheus, "Metric and label naming".
package metrics
