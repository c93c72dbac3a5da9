package blobstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
)

func ExampleAll() {
	ctx := context.Background()
	store := blobtest.NewMemory()
	for _, name := range []string{"state/2", "commits/1", "state/1"} {
		err := store.Put(ctx, name, func(w io.Writer) error {
			_, err := io.WriteString(w, name)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	for info, err := range blobstore.All(ctx, store, "state/", "") {
		fmt.Println(info.Name, info.Size, err)
	}
	fmt.Println(blobstore.RemoveAll(ctx, store, "state/"), store.Names())
	// Output:
	// state/1 7 <nil>
	// state/2 7 <nil>
	// <nil> [commits/1]
}

func TestAllReturnsTheErrorOfAPage(t *testing.T) {
	store := blobtest.NewMemory()
	store.SetPage(1)
	for _, name := range []string{"a", "b", "c"} {
		if err := store.PutIfAbsent(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	pages := 0
	store.SetPlan(func(op blobtest.Op) blobtest.Fault {
		if pages++; pages == 3 {
			return blobtest.Fail
		}
		return blobtest.None
	})
	names := ""
	var last error
	for info, err := range blobstore.All(t.Context(), store, "", "") {
		names += info.Name
		last = err
	}
	if names != "ab" || !errors.Is(last, blobtest.ErrFault) {
		t.Errorf("All = %q, then %v", names, last)
	}
	store.SetPlan(nil)
	for info := range blobstore.All(t.Context(), store, "", "a") {
		if info.Name != "b" {
			t.Errorf("after a comes %q", info.Name)
		}
		break // which must end it
	}
}
