package main

// texts are what is read without -in, a file each.
var texts = []string{
	`a stream is cut into batches and a batch is a collection
a collection is cut into partitions and a partition is a list of records
`,
	`the lineage of a collection says how it is made
what is lost is made again from the lineage
`,
	`a task reads a partition and the scheduler gives the task to an executor
an executor that is lost takes its partitions along
the scheduler makes them again and nothing else
`,
}
