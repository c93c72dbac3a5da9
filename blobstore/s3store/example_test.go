package s3store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
)

func ExampleOpen() {
	web := httptest.NewServer(s3test.New("checkpoints")) // in place of a real service
	defer web.Close()
	ctx := context.Background()
	store, err := s3store.Open(ctx, s3store.Options{
		Endpoint: web.URL, Bucket: "checkpoints", Prefix: "counts", AccessKey: "key", SecretKey: "secret",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	err = store.Put(ctx, "state/000042/part-00000", func(w io.Writer) error {
		_, err := io.WriteString(w, "rows")
		return err
	})
	fmt.Println("put:", err)
	for _, driver := range []string{"driver-1", "driver-2"} {
		err := store.PutIfAbsent(ctx, "commits/000042", []byte(driver))
		fmt.Println(driver, "decides:", !errors.Is(err, blobstore.ErrExists))
	}
	for info, err := range blobstore.All(ctx, store, "", "") {
		fmt.Println(info.Name, info.Size, err)
	}
	// Output:
	// put: <nil>
	// driver-1 decides: true
	// driver-2 decides: false
	// commits/000042 8 <nil>
	// state/000042/part-00000 4 <nil>
}
