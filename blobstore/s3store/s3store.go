package s3store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/leat-io/leat/blobstore"
)

// Store is a blobstore.Store in a bucket.
type Store struct {
	opts      Options
	client    *minio.Core
	transport *http.Transport
	prefix    string // of all keys, with a slash if there is one
	place     string
	md5Tags   bool // the store's tags are digests of what is stored
}

// Open returns the store in a bucket, after trying there whether conditions are obeyed.
//
// Cost: some six requests; none with Options.ReadOnly.
// Errors: *blobstore.UnsupportedError for a store that ignores conditions; invalid options; those of the requests.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	u, err := url.Parse(opts.Endpoint)
	if err != nil {
		return nil, err
	}
	s := &Store{opts: opts}
	if opts.Prefix != "" {
		s.prefix = opts.Prefix + "/"
	}
	s.place = fmt.Sprintf("bucket %s of %s://%s", opts.Bucket, u.Scheme, u.Host)
	if opts.Prefix != "" {
		s.place += " under " + opts.Prefix
	}
	s.transport = &http.Transport{ // without a proxy of the environment
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig:       opts.TLS.Clone(),
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: opts.Timeout,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
	}
	lookup := minio.BucketLookupAuto
	if opts.PathStyle {
		lookup = minio.BucketLookupPath
	}
	s.client, err = minio.NewCore(u.Host, &minio.Options{
		Creds:        credentials.NewStaticV4(opts.AccessKey, opts.SecretKey, opts.SessionToken),
		Secure:       u.Scheme == "https",
		Transport:    s.transport,
		Region:       opts.Region,
		BucketLookup: lookup,
		MaxRetries:   1, // one that is repeated unseen may meet its own effect
	})
	if err == nil && !opts.ReadOnly {
		err = s.probe(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open blob store %s: %w", s, err)
	}
	return s, nil
}

// String returns the bucket, the service and the prefix.
func (s *Store) String() string { return s.place }

// Close closes connections that nobody uses. Calls may go on, and make others.
func (s *Store) Close() { s.transport.CloseIdleConnections() }

// writable returns why nothing is written, if nothing is.
func (s *Store) writable() error {
	if s.opts.ReadOnly {
		return &blobstore.UnsupportedError{Store: s.String(), What: "was opened to be read only"}
	}
	return nil
}

func (s *Store) key(name string) string { return s.prefix + name }

// probe finds out whether conditions of writes are obeyed, and what tags are made of. Its object has a name that no blob can have.
func (s *Store) probe(ctx context.Context) error {
	name := blobstore.Reserved + "probe/" + rand.Text()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Timeout)
		defer cancel()
		_ = s.client.RemoveObject(ctx, s.opts.Bucket, s.key(name), minio.RemoveObjectOptions{}) // it only takes room
	}()
	refuse := func(what string) error { return &blobstore.UnsupportedError{Store: s.String(), What: what} }
	one, two := []byte("one"), []byte("two")
	tag, err := s.conditional(ctx, name, one, blobstore.Absent)
	if err != nil {
		return err
	}
	if _, err := s.conditional(ctx, name, two, blobstore.Absent); err == nil {
		return refuse("ignores If-None-Match: a name can be created twice")
	} else if !errors.Is(err, blobstore.ErrChanged) {
		return err
	}
	if _, err := s.conditional(ctx, name, two, blobstore.Tag(strings.Repeat("0", 32))); err == nil {
		return refuse("ignores If-Match: a blob can be swapped for another than the one that was read")
	} else if !errors.Is(err, blobstore.ErrChanged) {
		return err
	}
	if _, err := s.conditional(ctx, name, two, tag); err != nil {
		return err
	}
	data, now, err := s.read(ctx, name)
	if err != nil {
		return err
	}
	if string(data) != "two" || now == tag {
		return refuse("does not show what was written last")
	}
	s.md5Tags = string(now) == md5Hex(two)
	return nil
}
