package rdd_test

import (
	"context"
	"fmt"
	"log"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/rdd"
)

func ExampleVerifyStoredCheckpoint() {
	store := blobtest.NewMemory()
	c, end := inProcess(rdd.Options{CheckpointDir: "state", CheckpointStore: store, DurableCheckpoints: true})
	defer end()
	r := rdd.Parallelize(c, []string{"ada", "bo"}, 1)
	if err := r.Checkpoint(); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := r.Count(ctx); err != nil {
		log.Fatal(err)
	}
	dir, digest := r.CheckpointFolder()
	fmt.Println(rdd.VerifyStoredCheckpoint(ctx, store, dir, digest))
	fmt.Println(rdd.VerifyStoredCheckpoint(ctx, store, dir, "another") != nil)
	// Output:
	// <nil>
	// true
}
