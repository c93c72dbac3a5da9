package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// maxHints is how often a client goes where a node sends it.
const maxHints = 3

// A Client asks nodes. It needs Dial.
type Client struct {
	// Dial connects to a node's admin protocol until ctx ends. Called from the goroutine of the request.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Followed, where it is not nil, is told when the node at an address does not lead and its leader is asked instead.
	Followed func(address string, leader Member)
}

// Status returns what the node at an address knows. No other node is asked.
func (c *Client) Status(ctx context.Context, address string) (Status, error) {
	r, err := c.ask(ctx, address, request{Kind: statusRequest})
	if err != nil {
		return Status{}, fmt.Errorf("ask %s for its status: %w", address, err)
	}
	if r.Status == nil {
		return Status{}, fmt.Errorf("ask %s for its status: a reply without one", address)
	}
	return *r.Status, nil
}

// Join asks for a member to join, and returns when it votes.
//
// Errors: *NotLeaderError where no leader was found; *RequestError; *NodeError; ErrUnknown; of Dial; in a *RouteError where more than one
// node was asked. The same for the requests below.
func (c *Client) Join(ctx context.Context, address string, m Member) error {
	return c.askLeader(ctx, address, request{Kind: joinRequest, Member: &m})
}

// Remove asks for a member to be removed.
func (c *Client) Remove(ctx context.Context, address, id string) error {
	return c.askLeader(ctx, address, request{Kind: removeRequest, ID: id})
}

// Transfer asks for another node to lead, any where id is empty, and returns when it does.
func (c *Client) Transfer(ctx context.Context, address, id string) error {
	return c.askLeader(ctx, address, request{Kind: transferRequest, ID: id})
}

// Snapshot asks the leader for a snapshot.
func (c *Client) Snapshot(ctx context.Context, address string) error {
	return c.askLeader(ctx, address, request{Kind: snapshotRequest})
}

// SetStatus asks the leader to pause an application, to stop it or to let it go on, see driverlog.SetStatus.
func (c *Client) SetStatus(ctx context.Context, address, app string, status driverlog.Status) error {
	return c.askLeader(ctx, address, request{Kind: controlRequest, App: app, Status: status.String()})
}

// askLeader asks the node at an address, and then whom it says leads.
func (c *Client) askLeader(ctx context.Context, address string, r request) error {
	asked := []string{address}
	for {
		_, err := c.ask(ctx, address, r)
		elsewhere := (*NotLeaderError)(nil)
		switch {
		case err == nil:
			return nil
		case errors.As(err, &elsewhere) && elsewhere.Leader.Address != "" && len(asked) <= maxHints:
			if c.Followed != nil {
				c.Followed(address, elsewhere.Leader)
			}
			address = elsewhere.Leader.Address
			asked = append(asked, address)
			continue
		case len(asked) > 1:
			err = &RouteError{Asked: asked, Err: err}
		default:
			err = fmt.Errorf("ask %s: %w", address, err)
		}
		return fmt.Errorf("%s: %w", r.Kind, err)
	}
}

// ask sends a request and returns its reply. Once it may have arrived, an error that is not the node's is ErrUnknown, but for questions
// that change nothing.
func (c *Client) ask(ctx context.Context, address string, r request) (reply, error) {
	if err := r.check(); err != nil {
		return reply{}, err
	}
	deadline, bounded := ctx.Deadline()
	if bounded {
		r.WaitMS = min(max(time.Until(deadline).Milliseconds(), 1), maxWait.Milliseconds())
	}
	conn, err := c.Dial(ctx, address)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = conn.Close() }() // the reply has come, or will not
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer, err := exchange(conn, r)
	if err == nil {
		if answer.Error != nil {
			return reply{}, answer.Error.decode()
		}
		return answer, nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if r.Kind == statusRequest {
		return reply{}, err
	}
	return reply{}, fmt.Errorf("%w: %w", ErrUnknown, err)
}

func exchange(conn net.Conn, r request) (reply, error) {
	if err := writeFrame(conn, r); err != nil {
		return reply{}, fmt.Errorf("send the request: %w", err)
	}
	text, err := readFrame(conn)
	if err != nil {
		return reply{}, fmt.Errorf("read the reply: %w", err)
	}
	return decodeReply(text)
}
