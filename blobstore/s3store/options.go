package s3store

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/leat-io/leat/blobstore"
)

// What Options means by zero.
const (
	DefaultRegion   = "us-east-1"
	DefaultPartSize = 64 << 20
	DefaultAttempts = 5
	DefaultBackoff  = 100 * time.Millisecond
	DefaultTimeout  = 30 * time.Second
)

// MinPartSize is what the protocol asks of all parts but the last.
const MinPartSize = 5 << 20

// Options says where a Store is. Endpoint, Bucket, AccessKey and SecretKey are needed.
type Options struct {
	// Endpoint is the URL of the service, as https://host or http://127.0.0.1:port.
	Endpoint string
	// Region is the bucket's. Empty means us-east-1.
	Region string
	// Bucket is the bucket, which must be there.
	Bucket string
	// Prefix is put before all names, with a slash. Empty means none.
	Prefix string
	// AccessKey and SecretKey sign requests; SessionToken is for temporary ones.
	AccessKey, SecretKey, SessionToken string
	// PathStyle puts the bucket in the path, not in the host's name. The host's name is used only where it is known to work.
	PathStyle bool
	// TLS is the configuration of connections. Nil is the default.
	TLS *tls.Config
	// PartSize is the size of the parts that a larger blob is sent in, from 5 MiB. Zero means 64 MiB.
	PartSize int64
	// Attempts is how often a request is sent at most, in one call. Zero means 5.
	Attempts int
	// Backoff is the time before the second attempt; it doubles with each. Zero means 100 milliseconds.
	Backoff time.Duration
	// Timeout is how long a request may take; for the body of a blob, how long nothing may arrive, and for a part a second more for
	// each MiB. Zero means 30 seconds.
	Timeout time.Duration
	// ReadOnly opens without trying anything, for those who only look: whatever would write is refused. Of blobs in parts that were
	// written without it the length alone is compared.
	ReadOnly bool
	// Logger gets one Warn a request that is repeated. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that Open would refuse.
func (o Options) Validate() error {
	o = o.withDefaults()
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return errors.New("s3store: the endpoint is no URL") // which may hold a secret
	}
	switch {
	case u.Host == "" || u.User != nil || (u.Path != "" && u.Path != "/") || u.RawQuery != "":
		return errors.New("s3store: the endpoint must be a URL of a host alone, as https://host:port")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("s3store: %s is not this machine and needs https", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("s3store: endpoint of scheme %q, want https", u.Scheme)
	case o.Bucket == "" || strings.ContainsAny(o.Bucket, "/ "):
		return fmt.Errorf("s3store: bucket %q", o.Bucket)
	case o.AccessKey == "" || o.SecretKey == "":
		return errors.New("s3store: no access key or no secret key")
	case o.PartSize < MinPartSize || o.PartSize > 1<<30:
		return fmt.Errorf("s3store: parts of %d bytes, want 5 MiB to 1 GiB", o.PartSize)
	case o.Attempts < 0 || o.Backoff < 0 || o.Timeout < 0:
		return fmt.Errorf("s3store: %d attempts, backoff %s, timeout %s", o.Attempts, o.Backoff, o.Timeout)
	}
	if o.Prefix != "" {
		if err := blobstore.CheckName(o.Prefix); err != nil {
			return fmt.Errorf("s3store: prefix: %w", err)
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String returns the options as they are used, defaults filled in, without the keys.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("endpoint %s, region %s, bucket %s, prefix %q, parts of %d bytes, %d attempts, backoff %s, timeout %s",
		o.Endpoint, o.Region, o.Bucket, o.Prefix, o.PartSize, o.Attempts, o.Backoff, o.Timeout)
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = DefaultRegion
	}
	if o.PartSize == 0 {
		o.PartSize = DefaultPartSize
	}
	if o.Attempts == 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Backoff == 0 {
		o.Backoff = DefaultBackoff
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
