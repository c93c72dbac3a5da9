// Command spill runs four jobs over more data than they may hold in memory, and checks what comes out.
//
//	go run ./tests/spill -bytes 8GiB -memory 256MiB
//	go run ./tests/spill -bytes 1GiB -memory 64MiB -only sort,join
//	go run ./tests/spill -bytes 256MiB -memory 16MiB -kill
//
// The jobs are wordcount (text with many different words), sort, group and join. Their rows are made by the tasks
// from package workload's generator, so that any row can be made again from its number, and the right answer is
// computed by a plain loop over the same numbers that keeps sums and a bit for each key.
//
// For each job a line is printed: its name, rows, whether the answer is right, seconds, the most memory the
// process had resident, what the tasks wrote to scratch files, and the files left behind. The exit status is 1 if an answer
// is wrong, if the peak is above twice the budget, or if a file is left.
//
// With -kill the program starts itself again, kills that process (without giving it a chance to tidy up) once it has
// written files, and then runs the jobs: the files of the killed process must be gone as well.
//
// The process sets its own soft limit of memory, for Go's collector, at one and a half times the budget.
package main
