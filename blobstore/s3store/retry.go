package s3store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/leat-io/leat/blobstore"
)

// An outcome is what an error says of the request that it is of.
type outcome int

const (
	refused outcome = iota // it had no effect, and to repeat it is of no use
	unmoved                // it had no effect
	unclear                // it may have had one, or may yet
)

// outcomeOf returns what err says of a request.
func outcomeOf(err error) outcome {
	var done settled
	var unsupported *blobstore.UnsupportedError
	if errors.Is(err, blobstore.ErrChanged) || errors.As(err, &done) || errors.As(err, &unsupported) {
		return refused
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return unmoved
	}
	switch code := statusOf(err); {
	case code == http.StatusConflict, code == http.StatusTooManyRequests, code == http.StatusTooEarly:
		return unmoved // a conflict is of two conditional writes at a time
	case code == http.StatusRequestTimeout, code < 400, code >= 500:
		return unclear
	default:
		return refused
	}
}

// statusOf returns the status of the response that err is of, 0 if there was none.
func statusOf(err error) int {
	var response minio.ErrorResponse
	if errors.As(err, &response) {
		return response.StatusCode
	}
	return 0
}

// attempt calls send, again while it fails and may do better, with a limit of time for each. before says whether an earlier attempt
// of the same call may have had an effect.
//
// Errors: the last one; unclear says whether any attempt may have had an effect.
func (s *Store) attempt(ctx context.Context, limit time.Duration, send func(ctx context.Context, before bool) error) (unknown bool, err error) {
	pause := s.opts.Backoff
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return unknown, err
		}
		sent, cancel := context.WithTimeout(ctx, limit)
		err = send(sent, unknown)
		cancel()
		if err == nil {
			return false, nil
		}
		o := outcomeOf(err)
		unknown = unknown || o == unclear
		if o == refused || n >= s.opts.Attempts {
			return unknown, err
		}
		s.opts.Logger.WarnContext(ctx, "object store request repeated", "store", s.String(), "attempt", n, "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return unknown, errors.Join(ctx.Err(), err)
		case <-timer.C:
		}
		pause *= 2
	}
}

// reading is attempt for requests without an effect.
func (s *Store) reading(ctx context.Context, send func(ctx context.Context) error) error {
	_, err := s.attempt(ctx, s.opts.Timeout, func(ctx context.Context, _ bool) error { return send(ctx) })
	if statusOf(err) == http.StatusNotFound {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// uncertain returns err, marked if the outcome is not known.
func uncertain(unknown bool, err error) error {
	if unknown && err != nil {
		return fmt.Errorf("%w: %w", blobstore.ErrUnknown, err)
	}
	return err
}

// failed returns err with what was being done.
func failed(op, name string, err error) error {
	var bad *blobstore.NameError
	if err == nil || errors.As(err, &bad) {
		return err
	}
	return &blobstore.Error{Op: op, Name: name, Err: err}
}
