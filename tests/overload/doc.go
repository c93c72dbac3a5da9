// Command overload gives a streaming program more than it can process, and checks that it lives with it.
//
//	go run ./tests/overload                      # five times the capacity for a minute, with back-pressure
//	go run ./tests/overload -backpressure=false  # the receiver is held back by what may be pending alone
//	go run ./tests/overload -initial 0 -for 3m   # no rate for the first batches
//	go run ./tests/overload -wait 0 -work 20000  # a job that needs the CPU
//
// The program has one receiver, which makes records, and one job, which waits for a device of fixed speed, or does
// arithmetic with each record. The first is the default, since nobody can promise how long batches wait on a machine that
// gives the program now a whole CPU and now a fifth of one. First the job is timed alone: that is the capacity. Then the receiver is given factor times as many records a second to store, for
// the time asked for; then none, until what it had stored is processed.
//
// Each second, or interval if that is shorter, a line is printed: seconds since the start; of the batches that have ended
// since the last line their records, how long one of them had waited at most and how long they took together; the rate of the
// receiver (0: none); what the heap holds, with garbage.
//
// At the end the bounds are printed with what was measured, and the exit status is 1 if one is broken:
//
//	lost       records that were accepted and not processed once: none
//	delay      with back-pressure, how long a batch waited once the stream has settled: less than three intervals
//	backlog    with back-pressure, records that are stored and not processed: five intervals' worth once settled
//	heap       what the records take that the receiver and the block log may hold, twice; with back-pressure and once
//	           the stream has settled, what five batches take, twice; each with 64 MiB for the rest
//	lag        after the load: all that was stored is processed, and a batch without records did not wait
//
// A stream has settled ten batches after its start. Without an initial rate it takes in addition the time in which all
// that may be held is processed.
package main
