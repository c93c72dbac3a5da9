// Command leat looks at what leat programs keep on disk and in object stores, copies it and goes back in it, and asks the drivers of a
// cluster.
//
//	leat log dump|verify PLACE        the driver log of a folder that streamingcontext.GetOrCreate or cluster.Open was given, or of a store
//	leat checkpoint ls|verify PLACE   its checkpoints
//	leat checkpoint clone DIR NEW     a copy of a folder, to go on from
//	leat checkpoint rewind DIR        go back to an earlier batch: -list, -to BATCH|TIME, -into NEW
//	leat sink read|verify DIR         the committed rows of a sink of files: lines, Parquet as lines of JSON
//
//	leat cluster status|join|remove|transfer|snapshot    ask the drivers of a cluster: -addr HOST:PORT, -ca, -cert and -key
//	leat cluster pause|resume|stop APP                   ask them about an application
//	leat cluster init|recover DIR     make a cluster of the driver that has DIR, the folder that cluster.Open is given
//	leat manifest systemd|kubernetes|nomad               print what starts the drivers of a cluster
//
// A PLACE is a folder, or a store: s3://BUCKET/PREFIX?endpoint=http://127.0.0.1:9000 with the keys of AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, or folderstore:DIR. In a store -driver NAME says where the driver log is.
//
// Of what is kept it only reads, and a program may be running meanwhile, but for clone, rewind, init and recover: these need the folder for themselves.
// Clone and rewind make another one and remove nothing. With -o json everything is printed as JSON, one value a line. What is
// damaged is named on standard error, and the exit status is 1.
package main
