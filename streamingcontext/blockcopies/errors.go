package blockcopies

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by what is asked of Copies that are closed, and of a term whose log was closed.
var ErrClosed = errors.New("copies of received blocks are closed")

// ErrLeads is returned by Lead while the log of an earlier term is open.
var ErrLeads = errors.New("an earlier term has its log of received blocks open")

// A FencedError says that a driver of a newer epoch has asked for what there is. Nothing is acknowledged in an older one any more.
type FencedError struct {
	Epoch uint64 // that was refused
	By    uint64 // the newest that has asked
	Node  string // where; empty for this one
}

// Error returns both epochs and where it was found out.
func (e *FencedError) Error() string {
	at := "this driver"
	if e.Node != "" {
		at = "driver " + e.Node
	}
	return fmt.Sprintf("received blocks of epoch %d are refused: %s keeps copies for epoch %d", e.Epoch, at, e.By)
}

// A RemoteError is what another driver answered instead of doing what it was asked for.
type RemoteError struct {
	Node string
	Text string
}

// Error returns the driver and what it said.
func (e *RemoteError) Error() string { return fmt.Sprintf("driver %s: %s", e.Node, e.Text) }

// A FrameError says that what came over a connection is no message of this protocol.
type FrameError struct{ Reason string }

// Error returns what is wrong.
func (e *FrameError) Error() string { return "message about copies of blocks: " + e.Reason }
