package upsert_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/leat-io/leat/dstream/sink/upsert"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := upsert.NewMemory[string, int64]()
	to := upsert.New(dir, store, func(c *count) upsert.Entry[string, int64] {
		return upsert.Entry[string, int64]{Key: c.Word, Value: c.N}
	}, upsert.Options{})
	ctx := context.Background()
	for id, rows := range [][]count{{{"a", 1}, {"b", 1}}, {{"a", 2}, {"a", 3}}} {
		staged, err := stage(ctx, to, batch(int64(id)), "1.1", rows) // what a driver and its tasks do
		if err != nil {
			log.Fatal(err)
		}
		for range 2 { // once more after a crash
			if err := to.Commit(ctx, batch(int64(id)), staged); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Println(store.Get("a"))
	fmt.Println(store.Get("b"))
	// Output:
	// 3 1 true
	// 1 0 true
}
