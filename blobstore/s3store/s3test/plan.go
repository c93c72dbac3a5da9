package s3test

import (
	"fmt"
	"net/http"
)

// A Request is what a plan is told of a request.
type Request struct {
	N      int // its number, from 1
	Method string
	Key    string // empty for requests of the bucket
	Query  string // as it was sent
}

// String returns the request.
func (r Request) String() string {
	return fmt.Sprintf("request %d: %s %q %s", r.N, r.Method, r.Key, r.Query)
}

// A Fault is what becomes of a request.
type Fault int

// The faults.
const (
	// None: the request is answered.
	None Fault = iota
	// Unavailable: it has no effect and is answered with status 503.
	Unavailable
	// Conflict: it has no effect and is answered with status 409.
	Conflict
	// Dropped: it has no effect, and the connection breaks.
	Dropped
	// Lost: it has its effect, and the connection breaks.
	Lost
	// Cut: it has its effect, and the connection breaks in the middle of the answer.
	Cut
	// Garbled: it has its effect, and a bit of the answer is wrong.
	Garbled
)

// String returns the fault in a word.
func (f Fault) String() string {
	return [...]string{"none", "unavailable", "conflict", "dropped", "lost", "cut", "garbled", "?"}[f&7]
}

// A Plan says what becomes of each request. It must not call the server.
type Plan func(r Request) Fault

// SetPlan sets the plan of all requests from now on. Nil has no faults.
func (s *Server) SetPlan(p Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = p
}

// Calls returns how many requests there were.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// next counts a request and asks the plan.
func (s *Server) next(r *http.Request, key string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.plan == nil {
		return None
	}
	return s.plan(Request{N: s.calls, Method: r.Method, Key: key, Query: r.URL.RawQuery})
}
