package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrUnknown is returned where a request was sent and no answer came: what was asked for may be done or not, now or in a moment.
var ErrUnknown = errors.New("the outcome is unknown")

// A NotLeaderError says that a node does not lead and has done nothing.
type NotLeaderError struct {
	Leader Member // who leads, zero where none is known
}

// Error returns who leads.
func (e *NotLeaderError) Error() string {
	if e.Leader.Address == "" {
		return "the node does not lead, and knows of none that does"
	}
	return "the node does not lead, " + e.Leader.String() + " does"
}

// A RequestError says that a node does not understand a request and has done nothing.
type RequestError struct {
	What string // what it does not understand
}

// Error returns what is wrong.
func (e *RequestError) Error() string { return "bad request: " + e.What }

// A NodeError says that a node could not do what it was asked for.
type NodeError struct {
	What string // the error on the node
}

// Error returns the node's error.
func (e *NodeError) Error() string { return "the node says: " + e.What }

// A RouteError is the error of the last node that was asked, where others had sent the client there.
type RouteError struct {
	Asked []string // addresses, in order
	Err   error
}

// Error returns who was asked and the error.
func (e *RouteError) Error() string {
	return fmt.Sprintf("asked %s: %v", strings.Join(e.Asked, ", then "), e.Err)
}

// Unwrap returns the error.
func (e *RouteError) Unwrap() error { return e.Err }

// maxText is the length in bytes of an error's text on its way.
const maxText = 4 << 10

// encodeError returns how an error of a node is sent.
func encodeError(err error) *replyError {
	var elsewhere *NotLeaderError
	var bad *RequestError
	e := &replyError{Kind: failed, Text: err.Error()}
	switch {
	case errors.As(err, &elsewhere):
		e = &replyError{Kind: notLeader}
		if checkAddress(elsewhere.Leader.Address) == nil {
			e.Leader = &elsewhere.Leader
		}
	case errors.As(err, &bad):
		e.Kind, e.Text = badRequest, bad.What
	case errors.Is(err, ErrUnknown), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Kind = unknown
	}
	e.Text = cut(e.Text)
	return e
}

// cut returns text of a bounded length that does nothing to a terminal or a log.
func cut(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// decode returns the error that was sent.
func (e *replyError) decode() error {
	switch e.Kind {
	case notLeader:
		if e.Leader == nil {
			return &NotLeaderError{}
		}
		return &NotLeaderError{Leader: *e.Leader}
	case badRequest:
		return &RequestError{What: cut(e.Text)}
	case unknown:
		return fmt.Errorf("%w: %s", ErrUnknown, cut(e.Text))
	}
	return &NodeError{What: cut(e.Text)}
}
