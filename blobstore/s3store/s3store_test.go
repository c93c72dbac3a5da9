package s3store_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
)

// server is a real server, as http://ACCESSKEY:SECRETKEY@host:port; tests make buckets there. Without it they have a double.
var server = flag.String("s3", "", "run on the server at this URL, which has its keys as user and password")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, opts s3store.Options) *s3store.Store {
	t.Helper()
	s, err := s3store.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

type factory struct {
	opts map[blobstore.Store]s3store.Options
}

func (f factory) Open(t *testing.T) blobstore.Store {
	opts := s3test.Bucket(t, *server)
	s := open(t, opts)
	f.opts[s] = opts
	return s
}

func (f factory) Reopen(t *testing.T, s blobstore.Store) blobstore.Store { return open(t, f.opts[s]) }

func TestConformance(t *testing.T) {
	blobtest.Run(t, factory{make(map[blobstore.Store]s3store.Options)})
}
