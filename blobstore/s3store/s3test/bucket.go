package s3test

import (
	"context"
	"crypto/rand"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/leat-io/leat/blobstore/s3store"
)

// Start serves an empty bucket for the length of a test. It returns the server and the options of a store there, whose requests
// are repeated at once.
func Start(t testing.TB) (*Server, s3store.Options) {
	t.Helper()
	s := New("bucket")
	web := httptest.NewUnstartedServer(s)
	web.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are broken on purpose
	web.Start()
	t.Cleanup(web.Close)
	return s, options(web.URL, "bucket", "key", "secret")
}

func options(endpoint, bucket, access, secret string) s3store.Options {
	return s3store.Options{
		Endpoint: endpoint, Bucket: bucket, Prefix: "app/1", AccessKey: access, SecretKey: secret,
		Backoff: time.Millisecond, PartSize: s3store.MinPartSize,
	}
}

// Bucket makes a bucket for the length of a test, on the real server at a URL like http://ACCESSKEY:SECRETKEY@host:port, and returns the
// options of a store there. Without a URL it is one of Start, with small pages.
func Bucket(t testing.TB, server string) s3store.Options {
	t.Helper()
	if server == "" {
		s, opts := Start(t)
		s.SetPage(7)
		return opts
	}
	u, err := url.Parse(server)
	if err != nil || u.User == nil {
		t.Fatal("the server's URL must be like http://ACCESSKEY:SECRETKEY@host:port")
	}
	secret, _ := u.User.Password()
	bucket := "leat-" + strings.ToLower(rand.Text()[:16])
	transport := http.DefaultTransport.(*http.Transport).Clone()
	client, err := minio.New(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(u.User.Username(), secret, ""), Transport: transport, Secure: u.Scheme == "https",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		for object := range client.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Recursive: true}) {
			_ = client.RemoveObject(ctx, bucket, object.Key, minio.RemoveObjectOptions{}) // what stays fails the next call
		}
		if err := client.RemoveBucket(ctx, bucket); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return options(u.Scheme+"://"+u.Host, bucket, u.User.Username(), secret)
}
