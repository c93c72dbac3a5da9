// Package recovery breaks what programs of streamingcontext.GetOrCreate go on from, and checks that they either show what an
// undisturbed run shows, or refuse by name.
//
// Its tests run a program with files, a receiver, three kinds of state and a sink of files for a dozen batches, end it in
// different ways, and then damage each file below its folder and its sink, change the program, fill the disk, or start it twice.
// What goes on after which change is also in docs/upgrades.md.
//
//	go test ./tests/recovery
//	go test ./tests/recovery -run TestDamage -recovery.all
//	go test ./tests/recovery -run TestManyBatches -recovery.batches 100000
//
// What is not here: crashes at every operation, which streamingcontext and sink/files test beside their code, and kills of a
// real process, which are in tests/crash.
package recovery
