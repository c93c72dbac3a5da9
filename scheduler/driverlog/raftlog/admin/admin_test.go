package admin

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

func TestTheLeaderDoesWhatItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		node := leading()
		served(t, network, "a:1", &Server{Node: node})
		c := client(network, &followed)
		ctx := t.Context()
		if err := c.Join(ctx, "a:1", Member{ID: id2, Address: "b:1", Voter: true}); err != nil {
			t.Error(err)
		}
		if err := c.Remove(ctx, "a:1", id2); err != nil {
			t.Error(err)
		}
		if err := errors.Join(c.Transfer(ctx, "a:1", id2), c.Transfer(ctx, "a:1", "")); err != nil {
			t.Error(err)
		}
		if err := c.Snapshot(ctx, "a:1"); err != nil {
			t.Error(err)
		}
		if e := (*RequestError)(nil); !errors.As(c.SetStatus(ctx, "a:1", "counts", driverlog.Paused), &e) {
			t.Error("a node without applications sets the status of one")
		}
		node.was(t, "join "+id2+" driver-2 b:1 true", "remove "+id2, "transfer "+id2, "transfer ", "snapshot")
		served(t, network, "c:1", &Server{Node: controller{node}})
		node.asked = nil
		for _, status := range []driverlog.Status{driverlog.Paused, driverlog.Running, driverlog.Stopped} {
			if err := c.SetStatus(ctx, "c:1", "counts", status); err != nil {
				t.Error(err)
			}
		}
		node.was(t, "counts paused", "counts running", "counts stopped")
		if len(followed) > 0 {
			t.Errorf("followed %q", followed)
		}
	})
}

// controller is a node with applications.
type controller struct{ *fakeNode }

func (n controller) SetStatus(ctx context.Context, app string, status driverlog.Status) error {
	return n.note(ctx, "%s %s", app, status)
}

func TestStatusComesBackWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		want := Status{
			ID: id2, Name: "driver-2", Build: "wordcount v2", Cluster: strings.Repeat("0a", 16), Role: "follower", Leader: Member{id1, "driver-1", "a:1", true},
			Term: 3, Epoch: 1 << 63, Index: 5, Applied: 6, LastContact: 7 * time.Millisecond,
			Members: []Member{{id1, "driver-1", "a:1", true}, {id2, "driver-2", "b:1", false}}, Free: 8, LowSpace: true, Poisoned: "disk", Digest: "ab",
		}
		served(t, network, "b:1", &Server{Node: &fakeNode{status: want}})
		got, err := client(network, &followed).Status(t.Context(), "b:1")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Status returns %+v, %v, want %+v", got, err, want)
		}
		for i := range reflect.ValueOf(want).NumField() {
			if reflect.ValueOf(want).Field(i).IsZero() {
				t.Errorf("the test leaves out %s", reflect.TypeOf(want).Field(i).Name)
			}
		}
		large := &fakeNode{status: Status{Members: make([]Member, maxMembers+1)}}
		served(t, network, "c:1", &Server{Node: large})
		if _, err := client(network, &followed).Status(t.Context(), "c:1"); err == nil {
			t.Error("a status of too many members is sent")
		}
	})
}

func TestAFollowerSaysWhoLeadsAndForwardsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		leader, follower, lost := leading(), following("a:1"), following("")
		served(t, network, "a:1", &Server{Node: leader})
		served(t, network, "b:1", &Server{Node: follower})
		served(t, network, "c:1", &Server{Node: lost})
		c := client(network, &followed)
		if err := c.Remove(t.Context(), "b:1", id2); err != nil {
			t.Error(err)
		}
		follower.was(t)
		leader.was(t, "remove "+id2)
		if !slices.Equal(followed, []string{"b:1>a:1"}) {
			t.Errorf("followed %q", followed)
		}
		for name, ask := range map[string]func() error{
			"join":     func() error { return c.Join(t.Context(), "c:1", Member{ID: id2, Address: "b:1"}) },
			"remove":   func() error { return c.Remove(t.Context(), "c:1", id2) },
			"transfer": func() error { return c.Transfer(t.Context(), "c:1", "") },
			"snapshot": func() error { return c.Snapshot(t.Context(), "c:1") },
		} {
			if e := (*NotLeaderError)(nil); !errors.As(ask(), &e) || e.Leader != (Member{}) {
				t.Errorf("%s: %v", name, ask())
			}
		}
		lost.was(t)
		// One that has lost the lead meanwhile says so itself.
		leader.err = &NotLeaderError{Leader: Member{ID: id2, Address: "b:1"}}
		err := c.Snapshot(t.Context(), "a:1")
		if route := (*RouteError)(nil); !errors.As(err, &route) || !slices.Equal(route.Asked, []string{"a:1", "b:1", "a:1", "b:1"}) {
			t.Errorf("Snapshot returns %v", err)
		}
		if e := (*NotLeaderError)(nil); !errors.As(err, &e) || e.Leader.Address != "a:1" {
			t.Errorf("Snapshot returns %v", err)
		}
	})
}

func TestErrorsComeBackAsWhatTheyWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		node := leading()
		served(t, network, "a:1", &Server{Node: node})
		c := client(network, &followed)
		node.err = errors.New("the member is not caught up")
		if e := (*NodeError)(nil); !errors.As(c.Snapshot(t.Context(), "a:1"), &e) || e.What != node.err.Error() {
			t.Errorf("Snapshot returns %v", c.Snapshot(t.Context(), "a:1"))
		}
		node.err = errors.New(strings.Repeat("\x00é", maxFrame))
		if e := (*NodeError)(nil); !errors.As(c.Snapshot(t.Context(), "a:1"), &e) || len(e.What) > maxText {
			t.Errorf("Snapshot returns %.100v", c.Snapshot(t.Context(), "a:1"))
		}
		for _, node.err = range []error{ErrUnknown, context.DeadlineExceeded, context.Canceled} {
			if err := c.Snapshot(t.Context(), "a:1"); !errors.Is(err, ErrUnknown) {
				t.Errorf("Snapshot returns %v", err)
			}
		}
		node.err = &RequestError{What: "no"}
		if e := (*RequestError)(nil); !errors.As(c.Snapshot(t.Context(), "a:1"), &e) || e.What != "no" {
			t.Errorf("Snapshot returns %v", c.Snapshot(t.Context(), "a:1"))
		}
		if err := c.Snapshot(t.Context(), "nowhere:1"); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("Snapshot of a node that cannot be reached returns %v", err)
		}
		node.asked = nil
		for _, m := range []Member{{}, {ID: "driver", Address: "a:1"}, {ID: id1}, {ID: id1, Address: "a"}, {ID: id1, Address: "a:x"}, {ID: id1, Address: ":1"}, {ID: id1, Name: "other", Address: "a:1"}} {
			if e := (*RequestError)(nil); !errors.As(c.Join(t.Context(), "a:1", m), &e) {
				t.Errorf("Join(%+v) returns %v", m, c.Join(t.Context(), "a:1", m))
			}
		}
		node.was(t)
	})
}

func framed(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

func TestBadRequestsAreRefusedAndOthersServed(t *testing.T) {
	for name, say := range map[string][]byte{
		"oversized_by_one": binary.BigEndian.AppendUint32(nil, maxFrame+1), "oversized": []byte("\xff\xff\xff\xff"), "http": []byte("GET / HTTP/1.1\r\n\r\n"),
		"empty": framed(""), "garbled": framed("\x00\x01"), "array": framed("[]"), "null": framed("null"), "number": framed("1"), "cut_off": framed(`{"kind":"st`),
		"two": framed(`{"kind":"status"}{"kind":"status"}`), "unknown_kind": framed(`{"kind":"stop"}`), "unknown_field": framed(`{"kind":"status","force":true}`),
		"deep": framed(strings.Repeat("[", maxFrame)), "join_nobody": framed(`{"kind":"join"}`), "join_without_address": framed(`{"kind":"join","member":{"id":"` + id1 + `"}}`),
		"remove_nobody": framed(`{"kind":"remove"}`), "remove_a_name": framed(`{"kind":"remove","id":"driver-1"}`), "transfer_to_a_name": framed(`{"kind":"transfer","id":"driver-1"}`),
		"snapshot_of_a_member": framed(`{"kind":"snapshot","id":"` + id1 + `"}`), "status_with_member": framed(`{"kind":"status","member":{}}`),
		"control_nothing": framed(`{"kind":"control","status":"paused"}`), "control_to_what": framed(`{"kind":"control","app":"a","status":"gone"}`), "control_a_node": framed(`{"kind":"control","app":"a","status":"paused","id":"` + id1 + `"}`),
		"remove_an_application": framed(`{"kind":"remove","id":"` + id1 + `","app":"a"}`), "control_at_length": framed(`{"kind":"control","app":"` + strings.Repeat("a", maxApp+1) + `","status":"paused"}`),
		"wait_of_years": framed(`{"kind":"status","wait_ms":9223372036854775807}`), "wait_back": framed(`{"kind":"status","wait_ms":-1}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, followed := new(linktest.Network), []string(nil)
				node := leading()
				served(t, network, "a:1", &Server{Node: node})
				conn, err := network.DialContext(t.Context(), "a:1")
				if err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = conn.Write(say) }() // all of it is not read before the reply
				text, err := readFrame(conn)
				if err != nil {
					t.Fatal(err)
				}
				r, err := decodeReply(text)
				if e := (*RequestError)(nil); err != nil || r.Error == nil || !errors.As(r.Error.decode(), &e) {
					t.Errorf("the reply is %s, %v", text, err)
				}
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
				if err := client(network, &followed).Snapshot(t.Context(), "a:1"); err != nil {
					t.Error(err)
				}
				node.was(t, "snapshot")
			})
		})
	}
}

func TestWhoeverAsksForNothingIsLeftAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		served(t, network, "a:1", &Server{Node: leading(), RequestTimeout: 3 * time.Second})
		for range DefaultMaxConns {
			conn, err := network.DialContext(t.Context(), "a:1")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := conn.Write([]byte{0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		if _, err := client(network, &followed).Status(t.Context(), "a:1"); err != nil || time.Since(begin) != 3*time.Second {
			t.Errorf("Status returns %v after %s", err, time.Since(begin))
		}
	})
}

func TestWhatTheClientGivesUpIsCancelled(t *testing.T) {
	for _, how := range []string{"deadline", "cancel", "hang_up"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, followed := new(linktest.Network), []string(nil)
				node := leading()
				begin := time.Now()
				began, ended := make(chan struct{}), make(chan error, 1)
				node.work = func(ctx context.Context) error {
					close(began)
					<-ctx.Done()
					ended <- ctx.Err()
					return ctx.Err()
				}
				served(t, network, "a:1", &Server{Node: node})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if how == "deadline" {
					ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				}
				defer cancel()
				if how == "hang_up" {
					conn, err := network.DialContext(t.Context(), "a:1")
					if err != nil {
						t.Fatal(err)
					}
					if err := writeFrame(conn, request{Kind: snapshotRequest}); err != nil {
						t.Fatal(err)
					}
					<-began
					_ = conn.Close()
				} else {
					if how == "cancel" {
						go func() { <-began; cancel() }()
					}
					if err := client(network, &followed).Snapshot(ctx, "a:1"); !errors.Is(err, ErrUnknown) || how == "cancel" && !errors.Is(err, context.Canceled) {
						t.Errorf("Snapshot returns %v", err)
					}
				}
				if err, took := <-ended, time.Since(begin); err == nil || took > time.Second {
					t.Errorf("the node goes on for %s, %v", took, err)
				}
			})
		})
	}
}

func TestALostReplyIsUnknownAndNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		for address, answer := range map[string][]byte{
			"none:1": nil, "cut:1": framed(`{}`)[:5], "garbled:1": framed("x"), "large:1": []byte("\x7f\xff\xff\xff"),
			"leader:1": framed(`{"error":{"kind":"not-leader","leader":{"address":"nowhere"}}}`), "odd:1": framed(`{"error":{"kind":"failed","leader":{"address":"a:1"}}}`),
		} {
			l, err := network.Listen(address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			asked := 0
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					asked++
					_, _ = readFrame(c)
					_, _ = c.Write(answer)
					_ = c.Close()
				}
			}()
			c := client(network, &followed)
			if err := c.Remove(t.Context(), address, id2); !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: Remove returns %v", address, err)
			}
			if asked != 1 {
				t.Errorf("%s is asked %d times", address, asked)
			}
			if _, err := c.Status(t.Context(), address); err == nil || errors.Is(err, ErrUnknown) {
				t.Errorf("%s: Status returns %v", address, err)
			}
		}
	})
}

func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, followed := new(linktest.Network), []string(nil)
		l, err := network.Listen("a:1")
		if err != nil {
			t.Fatal(err)
		}
		node := leading()
		began := make(chan struct{})
		node.work = func(ctx context.Context) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		done, asked := make(chan error), make(chan error, 1)
		go func() { done <- Serve(ctx, l, node) }()
		go func() { asked <- client(network, &followed).Snapshot(t.Context(), "a:1") }()
		<-began
		silent, err := network.DialContext(t.Context(), "a:1")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve returns %v", err)
		}
		if err := <-asked; !errors.Is(err, ErrUnknown) {
			t.Errorf("Snapshot returns %v", err)
		}
		if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("Read returns %v", err)
		}
		l, err = network.Listen("a:1")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if err := Serve(t.Context(), l, node); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve of a closed listener returns %v", err)
		}
	})
}
