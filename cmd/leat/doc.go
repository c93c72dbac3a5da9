// Command leat looks at what leat programs keep on disk, copies it and goes back in it.
//
//	leat log dump|verify DIR          the driver log of a folder that streamingcontext.GetOrCreate was given
//	leat checkpoint ls|verify DIR     its checkpoints
//	leat checkpoint clone DIR NEW     a copy of it, to go on from
//	leat checkpoint rewind DIR        go back to an earlier batch: -list, -to BATCH|TIME, -into NEW
//	leat sink read|verify DIR         the committed rows of a sink of files: lines, Parquet as lines of JSON
//
// It only reads, and a program may be running meanwhile, but for clone and rewind: these need the folder for themselves, make another one
// and remove nothing. With -o json everything is printed as JSON, one value a line. What is
// damaged is named on standard error, and the exit status is 1.
package main
