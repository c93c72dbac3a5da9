// Command leat looks at what leat programs keep on disk, copies it and goes back in it, and asks the drivers of a cluster.
//
//	leat log dump|verify DIR          the driver log of a folder that streamingcontext.GetOrCreate was given
//	leat checkpoint ls|verify DIR     its checkpoints
//	leat checkpoint clone DIR NEW     a copy of it, to go on from
//	leat checkpoint rewind DIR        go back to an earlier batch: -list, -to BATCH|TIME, -into NEW
//	leat sink read|verify DIR         the committed rows of a sink of files: lines, Parquet as lines of JSON
//
//	leat cluster status|join|remove|transfer|snapshot    ask the drivers of a cluster: -addr HOST:PORT, -ca, -cert and -key
//	leat cluster init|recover DIR     make a cluster of the driver that has DIR
//	leat manifest systemd|kubernetes|nomad               print what starts the drivers of a cluster
//
// Of what is on disk it only reads, and a program may be running meanwhile, but for clone, rewind, init and recover: these need the folder for themselves.
// Clone and rewind make another one and remove nothing. With -o json everything is printed as JSON, one value a line. What is
// damaged is named on standard error, and the exit status is 1.
package main
