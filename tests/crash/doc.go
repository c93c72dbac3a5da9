// Command crash kills a program again and again while it works, and checks that nothing was lost and nothing doubled.
//
//	go run ./tests/crash [-size M] [-files 200] [-kills 200] [-stops 50] [-restarts 0] [-isolate] [-windows] [-seed 1] [-dir DIR]
//
// It builds examples/exactlyonce, moves files of text one by one into the folder that the program reads, kills the program with
// SIGKILL and starts it again at random times, and stops it with SIGSTOP for a while at others. In the end the rows that the sink shows are
// summed per word and compared with a plain count of the text; every batch and partition must be there once, and the program's running total must be
// the number of words. With -windows the rows of the window and of the function with state are compared as well, with what they must be by the
// rows of the batches.
//
// With -restarts it then measures as many restarts after a kill, to the next committed batch, beside a program that only opens the driver log.
//
// It prints one line, tab-separated: kills, stops, batches, rows, words, seconds, ok or not, and exits 1 if not.
package main
