package rdd_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/leat-io/leat/rdd"
)

// writtenCheckpoint writes pairs as a process does, and returns what a later one needs to know.
func writtenCheckpoint(root string) (dir, digest string) {
	c, end := inProcess(rdd.Options{CheckpointDir: root, DurableCheckpoints: true})
	defer end()
	pairs := rdd.Parallelize(c, []pair{{Key: "a", Value: 1}, {Key: "b", Value: 2}}, 1)
	placed := rdd.PartitionBy(pairs, rdd.Hash[string](2))
	if err := placed.Checkpoint(); err != nil {
		log.Fatal(err)
	}
	if _, err := placed.Count(context.Background()); err != nil {
		log.Fatal(err)
	}
	return placed.CheckpointFolder()
}

func ExampleRestoreCheckpoint() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir, digest := writtenCheckpoint(root)

	c, end := inProcess(rdd.Options{})
	defer end()
	show(rdd.RestoreCheckpoint[pair](c, dir, digest, rdd.Hash[string](2)).Filter(func(p pair) bool { return p.Value > 1 }))
	fmt.Println(rdd.RestoreCheckpoint[pair](c, dir, digest, rdd.Hash[string](3)).Err() != nil)
	// Output:
	// [(b,2)] <nil>
	// true
}

func ExampleVerifyCheckpoint() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir, digest := writtenCheckpoint(root)
	fmt.Println(rdd.VerifyCheckpoint(dir, digest), rdd.VerifyCheckpoint(dir, "another") != nil)
	// Output: <nil> true
}

func ExamplePartitionerFor() {
	c, end := inProcess(rdd.Options{DefaultParallelism: 4})
	defer end()
	p, err := rdd.PartitionerFor[string](c)
	fmt.Println(p, err)
	p, err = rdd.PartitionerFor[string](c, rdd.NumPartitions(2))
	fmt.Println(p, err)
	// Output:
	// hash:4 <nil>
	// hash:2 <nil>
}
