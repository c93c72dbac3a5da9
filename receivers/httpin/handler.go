package httpin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// ServeHTTP stores the records of a request and answers it.
func (r *Receiver[T]) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "post records", http.StatusMethodNotAllowed)
		return
	}
	// A page from anywhere could otherwise post to a server on the machine of whoever looks at it.
	if err := r.cross.Check(req); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if coding := req.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		http.Error(w, "compressed bodies are not taken", http.StatusUnsupportedMediaType)
		return
	}
	select {
	case r.held <- struct{}{}:
		defer func() { <-r.held }()
	default:
		r.later(w, http.StatusTooManyRequests, "too many requests at once")
		return
	}
	r.take(w, req)
}

// take is ServeHTTP for a request that may be read.
func (r *Receiver[T]) take(w http.ResponseWriter, req *http.Request) {
	body, err := r.body(w, req)
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, fmt.Sprintf("more than %d bytes in a request", r.opts.MaxBody), http.StatusRequestEntityTooLarge)
		} else {
			http.Error(w, "the body did not arrive whole", http.StatusBadRequest)
		}
		return
	}
	rows, err := r.decode(body, r.opts.MaxRecords)
	if err != nil {
		status := http.StatusBadRequest
		if _, many := errors.AsType[*tooMany](err); many {
			status = http.StatusRequestEntityTooLarge
		}
		r.runs.report(fmt.Errorf("request from %s: %w", req.RemoteAddr, err))
		http.Error(w, err.Error(), status)
		return
	}
	run := r.runs.enter()
	if run == nil {
		r.later(w, http.StatusServiceUnavailable, "the receiver is not running")
		return
	}
	err = nil
	if len(rows) > 0 {
		err = run.store(req.Context(), r.opts.Wait, rows)
	}
	run.stores.Done()
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, errNoRoom):
		r.later(w, http.StatusTooManyRequests, err.Error())
	default:
		r.later(w, http.StatusServiceUnavailable, "the records could not be stored")
	}
}

// body reads the body of a request, which is refused by its length where that is told.
func (r *Receiver[T]) body(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	if req.ContentLength > r.opts.MaxBody {
		return nil, &http.MaxBytesError{Limit: r.opts.MaxBody}
	}
	return io.ReadAll(http.MaxBytesReader(w, req.Body, r.opts.MaxBody))
}

// later refuses a request that may succeed if it comes again.
func (r *Receiver[T]) later(w http.ResponseWriter, status int, why string) {
	seconds := (r.opts.Wait + time.Second - 1) / time.Second
	w.Header().Set("Retry-After", strconv.Itoa(int(max(seconds, 1))))
	http.Error(w, why, status)
}
