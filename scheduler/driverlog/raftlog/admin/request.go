package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// What can be asked for.
const (
	statusRequest   = "status"
	joinRequest     = "join"
	removeRequest   = "remove"
	transferRequest = "transfer"
	snapshotRequest = "snapshot"
	controlRequest  = "control"
)

// maxApp is the length in bytes of an application's name, at most.
const maxApp = 256

// maxWait is how long a node works on a request, at most.
const maxWait = 10 * time.Minute

// request is what a client sends.
type request struct {
	Kind   string  `json:"kind"`
	Member *Member `json:"member,omitempty"`  // of join
	ID     string  `json:"id,omitempty"`      // of remove and transfer
	App    string  `json:"app,omitempty"`     // of control
	Status string  `json:"status,omitempty"`  // of control: a driverlog.Status in a word
	WaitMS int64   `json:"wait_ms,omitempty"` // how long the client waits; 0 means maxWait
}

// decodeRequest returns a request that a node can be asked. What it does not know it refuses: a wish that is not understood must not be
// half fulfilled.
func decodeRequest(text []byte) (request, error) {
	var r request
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return request{}, &RequestError{What: fmt.Sprintf("no request: %.200s", err)}
	}
	if _, err := d.Token(); err != io.EOF {
		return request{}, &RequestError{What: "more than a request"}
	}
	if err := r.check(); err != nil {
		return request{}, err
	}
	return r, nil
}

// check returns what is wrong with a request.
func (r request) check() error {
	var err error
	switch r.Kind {
	case statusRequest, snapshotRequest:
	case joinRequest:
		if r.Member == nil {
			err = fmt.Errorf("no member to join")
		} else {
			err = r.Member.Check()
		}
	case removeRequest:
		err = link.CheckID(r.ID)
	case transferRequest:
		if r.ID != "" {
			err = link.CheckID(r.ID)
		}
	case controlRequest:
		if _, ok := statusOf(r.Status); !ok || r.App == "" || len(r.App) > maxApp {
			err = fmt.Errorf("an application of %d bytes that is to be %.40q", len(r.App), r.Status)
		}
	default:
		err = fmt.Errorf("unknown request %.40q", r.Kind)
	}
	if (r.Member != nil) != (r.Kind == joinRequest) || r.ID != "" && r.Kind != removeRequest && r.Kind != transferRequest ||
		r.App+r.Status != "" && r.Kind != controlRequest {
		if err == nil {
			err = fmt.Errorf("a request to %s with what belongs to another", r.Kind)
		}
	}
	if err == nil && (r.WaitMS < 0 || r.WaitMS > maxWait.Milliseconds()) {
		err = fmt.Errorf("a wait of %d ms, at most %d are allowed", r.WaitMS, maxWait.Milliseconds())
	}
	if err != nil {
		return &RequestError{What: err.Error()}
	}
	return nil
}

// statusOf returns the status that has this word.
func statusOf(word string) (driverlog.Status, bool) {
	for _, s := range []driverlog.Status{driverlog.Running, driverlog.Paused, driverlog.Stopped} {
		if s.String() == word {
			return s, true
		}
	}
	return 0, false
}

// wait returns how long to work on the request.
func (r request) wait() time.Duration {
	if r.WaitMS == 0 {
		return maxWait
	}
	return time.Duration(r.WaitMS) * time.Millisecond
}

// What a reply's error is.
const (
	notLeader  = "not-leader"
	badRequest = "bad-request"
	unknown    = "unknown"
	failed     = "failed"
)

// reply is what a node sends. Without an error what was asked for is done.
type reply struct {
	Status *Status     `json:"status,omitempty"`
	Error  *replyError `json:"error,omitempty"`
}

type replyError struct {
	Kind   string  `json:"kind"`
	Text   string  `json:"text,omitempty"`
	Leader *Member `json:"leader,omitempty"` // of not-leader, where one is known
}

// decodeReply returns a reply in its bounds. Fields that it does not know are of a later version, and left out.
func decodeReply(text []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return reply{}, fmt.Errorf("no reply: %w", err)
	}
	if r.Status != nil && len(r.Status.Members) > maxMembers {
		return reply{}, errTooManyMembers
	}
	if e := r.Error; e != nil && e.Leader != nil {
		if e.Kind != notLeader {
			return reply{}, fmt.Errorf("a reply of %.40q with a leader", e.Kind)
		}
		if err := checkAddress(e.Leader.Address); err != nil {
			return reply{}, fmt.Errorf("the leader in a reply: %w", err)
		}
	}
	return r, nil
}
