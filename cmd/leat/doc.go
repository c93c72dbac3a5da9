// Command leat looks at what leat programs keep on disk.
//
//	leat log dump|verify DIR          the driver log of a folder that streamingcontext.GetOrCreate was given
//	leat checkpoint ls|verify DIR     its checkpoints
//	leat sink read|verify DIR         the committed rows of a sink of files
//
// It only reads, and a program may be running meanwhile. With -o json everything is printed as JSON, one value a line. What is
// damaged is named on standard error, and the exit status is 1.
package main
