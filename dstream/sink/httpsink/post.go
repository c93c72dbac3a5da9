package httpsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/internal/spool"
)

const (
	// drained is how much of an answer is read, so that its connection can be used again.
	drained = 64 << 10
	// quoted is how much of one is in an error.
	quoted = 512
)

// Key returns what KeyHeader is for the request that begins with a row. Application and output are escaped, so that no two
// rows have the same key.
func Key(b sink.Batch, part int, row int64) string {
	return fmt.Sprintf("%s/%s/%d/%d/%d", url.PathEscape(b.App), url.PathEscape(b.Output), b.ID, part, row)
}

// post posts the rows of a batch that are not posted yet.
func (s *Sink[T]) post(ctx context.Context, b sink.Batch, st spool.Staged) error {
	if st.Extra < 1 || st.Extra > maxRows {
		return fmt.Errorf("%d rows a request, want 1 to %d", st.Extra, maxRows)
	}
	at := s.position(b)
	var body []byte
	for _, part := range st.Parts {
		if part.Index < at.part {
			continue
		}
		if part.Index > at.part {
			at.part, at.row = part.Index, 0
		}
		row, rows := int64(0), 0
		body = body[:0]
		for data, err := range part.Rows() {
			if err != nil {
				return fmt.Errorf("partition %d: %w", part.Index, err)
			}
			row++
			if row <= at.row {
				continue
			}
			body = append(body, data...)
			if st.Extra > 1 {
				body = append(body, '\n')
			}
			if rows++; int64(rows) < st.Extra && row < part.Count {
				continue
			}
			err = s.deliver(ctx, st.Extra > 1, &RefusedError{Batch: b, Part: part.Index, Row: at.row, Rows: rows, Key: Key(b, part.Index, at.row), Body: body})
			if err != nil {
				return err
			}
			at.row, rows, body = row, 0, body[:0]
			s.reached(b, at)
		}
	}
	return nil
}

func (s *Sink[T]) position(b sink.Batch) position {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.done[[2]string{b.App, b.Output}]; ok && at.batch == b.ID {
		return at
	}
	return position{batch: b.ID}
}

func (s *Sink[T]) reached(b sink.Batch, at position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[[2]string{b.App, b.Output}] = at
}

// deliver makes a request until it is answered for good. What it would say of a refusal is made beforehand.
func (s *Sink[T]) deliver(ctx context.Context, lines bool, r *RefusedError) error {
	for wait := s.opts.firstWait(); ; wait = min(2*wait, s.opts.lastWait()) {
		after, err := s.request(ctx, lines, r)
		if err == nil {
			return nil
		}
		if err == errRefused {
			if s.opts.Refused != nil {
				return s.opts.Refused(r)
			}
			r.Body = nil // it is not valid for long
			return r
		}
		if ctx.Err() != nil {
			return fmt.Errorf("post %s: %w", r.Key, context.Cause(ctx))
		}
		pause := min(max(wait, after), s.opts.lastWait())
		s.log.Warn("request is made again", "output", r.Batch.Output, "batch", r.Batch.ID, "partition", r.Part, "row", r.Row, "wait", pause, "err", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("post %s: %w; before: %w", r.Key, context.Cause(ctx), err)
		}
	}
}

var errRefused = errors.New("refused")

// request makes a request once. It returns errRefused where the answer will not change, with the answer in r, else how long the
// server wants to be left alone.
func (s *Sink[T]) request(ctx context.Context, lines bool, r *RefusedError) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(r.Body))
	if err != nil {
		return 0, err
	}
	for name, values := range s.opts.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	kind := s.opts.ContentType
	switch {
	case kind != "":
	case !lines:
		kind = "application/json"
	default:
		kind = "application/x-ndjson"
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set(KeyHeader, r.Key)
	answer, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	begin, _ := io.ReadAll(io.LimitReader(answer.Body, quoted))
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, drained))
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		return 0, nil
	}
	if !again(answer.StatusCode) {
		r.Status, r.Answer = answer.StatusCode, string(begin)
		return 0, errRefused
	}
	if seconds, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	}
	return after, fmt.Errorf("the server answers %s: %q", answer.Status, begin)
}

// again reports whether another answer can come of the same request. 409 says that one with the same key is being done.
func again(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}
