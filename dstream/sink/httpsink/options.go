package httpsink

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/leat-io/leat/dstream/sink/files"
)

// ErrOptions says that options have no meaning.
var ErrOptions = errors.New("httpsink: option")

// KeyHeader is the header that a request's key is in.
const KeyHeader = "Idempotency-Key"

const (
	defaultRows      = 500
	maxRows          = 1 << 20
	defaultFirstWait = 100 * time.Millisecond
	defaultLastWait  = 10 * time.Second
	defaultTimeout   = 30 * time.Second // of a request
)

// Options say how a sink posts. The zero value posts 500 rows a request as lines of JSON.
type Options[T any] struct {
	// Row returns a row's bytes; nil is encoding/json. It is called in tasks, many at once.
	Row func(row *T) ([]byte, error)
	// Rows is how many rows a request has at most, each on a line of its own; 0 is 500. A single row is sent as it is.
	Rows int
	// ContentType is the header of that name. Empty is application/x-ndjson, and application/json where Rows is 1.
	ContentType string
	// Header has other headers.
	Header http.Header
	// Client makes the requests; nil is one that gives a request 30 seconds. Redirects it does not follow.
	Client *http.Client
	// FirstWait is the time after which a request is made again; each wait after it is twice as long, up to LastWait. 0 is
	// 100 ms, and 10 s for LastWait. A server's Retry-After of seconds counts where it is longer, also up to LastWait.
	FirstWait, LastWait time.Duration
	// Refused is told of rows that the server will not take. Where it returns nil they are left out and the batch goes on;
	// nil leaves none out: the batch is not committed while they are refused.
	Refused func(*RefusedError) error
	// Logger is told of requests that are made again; nil discards.
	Logger *slog.Logger
	// FS is where the spool is; nil is the operating system's.
	FS files.FS
}

// Validate returns an error naming the first field that has no meaning.
func (o Options[T]) Validate() error {
	switch {
	case o.Rows < 0 || o.Rows > maxRows:
		return fmt.Errorf("%w: Rows is %d, want 0 to %d", ErrOptions, o.Rows, maxRows)
	case o.FirstWait < 0 || o.LastWait < 0:
		return fmt.Errorf("%w: waits of %v and %v", ErrOptions, o.FirstWait, o.LastWait)
	case o.firstWait() > o.lastWait():
		return fmt.Errorf("%w: FirstWait %v is longer than LastWait %v", ErrOptions, o.firstWait(), o.lastWait())
	case o.Header.Get(KeyHeader) != "":
		return fmt.Errorf("%w: Header has %s", ErrOptions, KeyHeader)
	}
	return nil
}

// String returns the size of a request and the waits.
func (o Options[T]) String() string {
	return fmt.Sprintf("%d rows a request, again after %v to %v", o.rows(), o.firstWait(), o.lastWait())
}

func (o Options[T]) rows() int {
	if o.Rows == 0 {
		return defaultRows
	}
	return o.Rows
}

func (o Options[T]) firstWait() time.Duration {
	if o.FirstWait == 0 {
		return defaultFirstWait
	}
	return o.FirstWait
}

func (o Options[T]) lastWait() time.Duration {
	if o.LastWait == 0 {
		return max(defaultLastWait, o.FirstWait)
	}
	return o.LastWait
}

// checkURL refuses what no request can go to.
func checkURL(to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%w: %q is no address of HTTP", ErrOptions, to)
	}
	return nil
}
