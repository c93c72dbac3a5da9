package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// A Node is a node of a cluster, as it is asked from elsewhere. Its methods are called from any goroutine, several at a time.
type Node interface {
	// Status returns what the node knows, at once. Called for every request.
	Status() Status
	// Join makes a member of the cluster, and returns when it votes. A node that does not lead returns a *NotLeaderError, here and below.
	Join(ctx context.Context, m Member) error
	// Remove ends the membership of the node with this id.
	Remove(ctx context.Context, id string) error
	// Transfer lets another node lead, the one with this id, or any where it is empty, and returns when it does.
	Transfer(ctx context.Context, id string) error
	// Snapshot writes the state in the place of the log behind it.
	Snapshot(ctx context.Context) error
}

// A Controller is a Node that has applications.
type Controller interface {
	// SetStatus sets what operators want of an application, see driverlog.SetStatus. Called as the methods of a Node.
	SetStatus(ctx context.Context, app string, status driverlog.Status) error
}

// Leader is the Role of the node that leads. Other roles are for people.
const Leader = "leader"

// maxMembers is the number of members, at most, that a status has.
const maxMembers = 64

// A Member is a node of a cluster as the others know it.
type Member struct {
	ID      string `json:"id"`      // its name and 16 hex digits, from its data folder
	Name    string `json:"name"`    // the name within ID
	Address string `json:"address"` // what others dial
	Voter   bool   `json:"voter"`   // it counts for majorities
}

// Check returns an error for a member that no cluster can have.
func (m Member) Check() error {
	if err := link.CheckID(m.ID); err != nil {
		return err
	}
	if name := nameIn(m.ID); m.Name != "" && m.Name != name {
		return fmt.Errorf("member %s has the name %.80q", m.ID, m.Name)
	}
	if err := checkAddress(m.Address); err != nil {
		return fmt.Errorf("member %s: %w", m.ID, err)
	}
	return nil
}

// nameIn returns the name within an id that was checked.
func nameIn(id string) string { return id[:strings.LastIndexByte(id, '-')] }

// checkAddress returns an error for what is not a host and a port by number.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %.200q: want host:port", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || len(host) > 253 {
		return fmt.Errorf("address %.200q: want host:port", address)
	}
	return nil
}

// String returns the id and the address.
func (m Member) String() string { return m.ID + " at " + m.Address }

// A Status is what a node knows of itself and its cluster.
type Status struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Build       string        `json:"build,omitempty"`   // what program it runs, for people
	Cluster     string        `json:"cluster,omitempty"` // "" before it is known
	Role        string        `json:"role"`              // Leader, or another word
	Leader      Member        `json:"leader"`            // zero where none is known
	Term        uint64        `json:"term"`
	Epoch       uint64        `json:"epoch"`        // of the driver that leads
	Index       uint64        `json:"index"`        // of the last command of the driver log
	Applied     uint64        `json:"applied"`      // of the last raft entry that was applied
	LastContact time.Duration `json:"last_contact"` // since the leader was heard of, in nanoseconds; 0 on the leader
	Members     []Member      `json:"members,omitempty"`
	Free        int64         `json:"free"`                // bytes that are free on its disk, -1 where that is not known
	LowSpace    bool          `json:"low_space,omitempty"` // it does not lead for want of room on its disk
	Poisoned    string        `json:"poisoned,omitempty"`  // why its storage takes no more writes, "" while it does
	Digest      string        `json:"digest,omitempty"`    // of the state, for comparing nodes of the same Index
}

var errTooManyMembers = errors.New("a status of too many members")
