// Package golden runs recorded cases against leat: small pipelines written down in JSON, each with
// the answers an engine of the same model gave to it.
//
// A case of the RDD kind is a list of operations and a list of actions with their answers. [Value]
// is what its records are; a function, such as "add:3", is looked up by name; an operation makes a
// [Dataset] of others; an action's result is compared as the case says. A case of the DStream kind is a
// program: its nodes make a [Stream] each, its outputs collect, and a script of steps moves a manual
// clock, stops the program, or asks something. What every output had in every batch is compared, and where
// the case says so the order of outputs, what listeners were told, what inputs were asked for, and the error
// that was reported. A case that recovers keeps its program in a folder of streamingcontext.GetOrCreate, and is compared process by
// process. One answer is leat's own: there are no checkpoint files by Spark's names, so a step that asks for them checks that
// exactly the checkpoint that counts is there, whole. The kind of a case is known by its shape: "ops" makes it an RDD case, "nodes" a DStream
// case.
//
//	go test ./tests/golden -v                    # the cases in testdata, and a line for each kind
//	go test ./tests/golden -golden.dir DIR       # every *.json below DIR
//
// Nothing knows a case by its id: whatever number of cases of the vocabulary is found is run, once
// with blocks shared in the process and once with everything sent through its codec. A case that uses
// a word which is not built is reported by that word and counted, and does not fail the test; what could be
// compared up to there is. One marked as a deviation is counted and not compared, unless it says what leat
// has to answer instead. The interpreter uses public APIs only.
//
// A DStream case runs in a bubble of testing/synctest, which tells when nothing moves any more but the
// clock: so nothing is waited for by time, and the same case always takes the same course.
//
// The vocabulary is one for both kinds: values, functions and RDD operations are also what DStream
// cases are made of.
package golden
