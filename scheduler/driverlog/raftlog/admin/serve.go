package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/leat-io/leat/internal/accept"
)

// What Server means by zero.
const (
	DefaultRequestTimeout = 5 * time.Second
	DefaultMaxConns       = 16
)

// lingerTime is how long the rest of a bad request is read.
const lingerTime = time.Second

// A Server answers requests for a node. The zero value needs a Node.
type Server struct {
	Node Node
	// RequestTimeout is how long a client may take to send its request, and to take the reply. Zero means 5 seconds.
	RequestTimeout time.Duration
	// MaxConns is the number of requests that are answered at a time; others wait. Zero means 16.
	MaxConns int
	// Logger gets an Info for each request that changes something, with its outcome, and a Warn for what is not a request. Nil discards.
	Logger *slog.Logger
}

// Serve answers requests for a node until ctx ends or the listener is closed. It is Server.Serve.
func Serve(ctx context.Context, l net.Listener, node Node) error {
	return (&Server{Node: node}).Serve(ctx, l)
}

// Serve answers what comes through a listener until ctx ends, closes it and waits for all requests, which are cancelled. The listener
// decides who may ask. It may be called for several listeners.
//
// Errors: nil when ctx has ended; net.ErrClosed where somebody else closed the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	most, logger := s.MaxConns, s.Logger
	if most <= 0 {
		most = DefaultMaxConns
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	err := accept.All(ctx, l, most, logger, func(ctx context.Context, c net.Conn) { s.serve(ctx, c, logger) })
	if err != nil {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// serve answers the request of a connection.
func (s *Server) serve(ctx context.Context, c net.Conn, logger *slog.Logger) {
	defer func() { _ = c.Close() }() // the client has its reply, or has gone
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	timeout := s.RequestTimeout
	if timeout <= 0 {
		timeout = DefaultRequestTimeout
	}
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	if ctx.Err() != nil { // its end may have come before that deadline was set
		return
	}
	text, err := readFrame(c)
	if err != nil && !errors.Is(err, errOversized) {
		logger.Debug("no request came", "peer", c.RemoteAddr().String(), "error", err)
		return
	}
	var r request
	if err != nil {
		err = &RequestError{What: err.Error()}
	} else {
		r, err = decodeRequest(text)
	}
	var answer reply
	if err != nil {
		logger.Warn("bad request", "peer", c.RemoteAddr().String(), "error", err)
		answer.Error = encodeError(err)
	} else {
		_ = c.SetReadDeadline(time.Time{})
		answer = s.answer(ctx, c, r)
		if r.Kind != statusRequest {
			outcome := "done"
			if answer.Error != nil {
				outcome = answer.Error.decode().Error()
			}
			logger.Info("request", "kind", r.Kind, "peer", c.RemoteAddr().String(), "outcome", outcome)
		}
	}
	_ = c.SetWriteDeadline(time.Now().Add(timeout))
	if err := writeFrame(c, answer); err != nil {
		logger.Debug("the reply was not sent", "peer", c.RemoteAddr().String(), "error", err)
	}
	if err != nil { // a connection that is closed while there is something in it to read is cut off, and the reply with it
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c, 4*maxFrame)
	}
}

// answer asks the node, for as long as the client is there.
func (s *Server) answer(ctx context.Context, c net.Conn, r request) reply {
	status := s.Node.Status()
	if r.Kind == statusRequest {
		if len(status.Members) > maxMembers {
			return reply{Error: encodeError(errTooManyMembers)}
		}
		status.Poisoned = cut(status.Poisoned)
		return reply{Status: &status}
	}
	if status.Role != Leader {
		return reply{Error: encodeError(&NotLeaderError{Leader: status.Leader})}
	}
	ctx, cancel := context.WithTimeout(ctx, r.wait())
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() {
		_, _ = c.Read(make([]byte, 1)) // returns when the client hangs up, says more than it may, or is answered
		cancel()
	})
	err := s.do(ctx, r)
	_ = c.SetReadDeadline(time.Unix(1, 0))
	watching.Wait()
	if err != nil {
		return reply{Error: encodeError(err)}
	}
	return reply{}
}

func (s *Server) do(ctx context.Context, r request) error {
	switch r.Kind {
	case joinRequest:
		m := *r.Member
		m.Name = nameIn(m.ID)
		return s.Node.Join(ctx, m)
	case removeRequest:
		return s.Node.Remove(ctx, r.ID)
	case transferRequest:
		return s.Node.Transfer(ctx, r.ID)
	case controlRequest:
		n, ok := s.Node.(Controller)
		if !ok {
			return &RequestError{What: "a node that has no applications"}
		}
		status, _ := statusOf(r.Status) // which was checked
		return n.SetStatus(ctx, r.App, status)
	}
	return s.Node.Snapshot(ctx)
}
