package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// madeUpLog returns a log of 20,000 lines over one day, always the same.
func madeUpLog() []byte {
	const lines, day = 20_000, 24 * 60 * 60
	components := []string{"hdfs", "mysql", "nginx", "scheduler"}
	messages := []string{
		"connection to hdfs was reset", "disk of the node is full", "no answer within 30 s",
		"transaction was rolled back", "checksum of a block is wrong",
	}
	source := rand.NewPCG(2012, 4)
	pick := func(n int) int { return int(source.Uint64() % uint64(n)) }
	var log bytes.Buffer
	for i := range lines {
		level, message := "INFO", "request served"
		component, node := components[pick(len(components))], pick(100)
		switch at := pick(100); {
		case at < 10:
			level, message = "ERROR", messages[pick(len(messages))]
		case at < 25:
			level, message = "WARN", "request was slow"
		}
		second := i * day / lines
		fmt.Fprintf(&log, "%s\t%s\tnode-%02d\t2012-04-25T%02d:%02d:%02dZ\t%s\n",
			level, component, node, second/3600, second/60%60, second%60, message)
	}
	return log.Bytes()
}
