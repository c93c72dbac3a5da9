package raftlog_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestListener(t *testing.T) {
	t.Run("a_slow_one_holds_nothing_up_and_hears_the_truth_last/R-08", func(t *testing.T) {
		var mu sync.Mutex
		var last raftlog.Member
		changes, terms := 0, 0
		slow := &raftlog.Listener{
			LeaderChanged: func(leader raftlog.Member) {
				<-time.After(time.Second)
				mu.Lock()
				defer mu.Unlock()
				last = leader
				changes++
			},
			TermStarted: func(uint64) { mu.Lock(); defer mu.Unlock(); terms++ },
			TermEnded:   func(uint64) { mu.Lock(); defer mu.Unlock(); terms-- },
		}
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1, raftlog.Options{Listener: slow})
			defer c.close()
			c.opts.Listener = nil
			c.grow()
			c.grow()
			before := time.Now()
			for range 100 {
				log, term := c.lead(c.names...)
				if err := log.Transfer(c.ctx(), ""); err != nil {
					c.Fatal(err)
				}
				<-term.Lost
			}
			if d := time.Since(before); d > 30*time.Second {
				t.Errorf("100 changes of leader took %s with a slow listener", d)
			}
			leader := c.leader()
			<-time.After(10 * time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if last.ID != leader.ID() || changes == 0 {
				t.Errorf("after %d changes the listener believes in %s, %s leads", changes, last.ID, leader.ID())
			}
			want := 0
			if leader == c.nodes["n1"] {
				want = 1
			}
			if terms != want {
				t.Errorf("%d terms more were started than ended, want %d", terms, want)
			}
		})
	})
	t.Run("a_slow_one_is_told_what_it_missed/R-14", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			heard, missed := 0, 0
			begun, release := make(chan struct{}, 1), make(chan struct{})
			log := open(t, t.TempDir(), raftlog.Options{Listener: &raftlog.Listener{
				TermStarted: func(uint64) {
					select {
					case begun <- struct{}{}:
					default:
					}
					<-release
					heard++
				},
				TermEnded: func(uint64) { heard++ },
				Missed:    func(n int) { missed += n },
			}})
			const rounds = 700
			for round := range rounds {
				if _, err := log.Lead(t.Context()); err != nil {
					t.Fatal(err)
				}
				if round == 0 {
					<-begun // so that it is behind by all that follows
				}
				factory{}.Depose(t, log)
			}
			close(release)
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			// Other events are among those that were missed.
			if missed == 0 || heard+missed < 2*rounds {
				t.Errorf("%d events heard and %d missed, want %d in all", heard, missed, 2*rounds)
			}
		})
	})
	t.Run("members_and_snapshots_are_told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			members, snapshots := 0, 0
			c := newCluster(t, 1, raftlog.Options{SnapshotEvery: 16, Listener: &raftlog.Listener{
				MembersChanged: func(m []raftlog.Member) { mu.Lock(); defer mu.Unlock(); members = len(m) },
				SnapshotTaken:  func(uint64) { mu.Lock(); defer mu.Unlock(); snapshots++ },
			}})
			defer c.close()
			c.grow()
			log, term := c.lead(c.names...)
			for id := range int64(40) {
				if _, err := log.Propose(c.ctx(), begin(term.Epoch, id)); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if members != 2 || snapshots < 2 {
				t.Errorf("told of %d members and %d snapshots, want 2 and some", members, snapshots)
			}
		})
	})
}

func TestDigests(t *testing.T) {
	t.Run("replicas_compare_their_states/I9", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.WithDigests(raftlog.Options{}, 64))
			defer c.close()
			log, term := c.lead(c.names...)
			apps := strings.Split("abcdefghijklmnopq", "")
			for id := range int64(5) {
				for _, app := range apps {
					cmd := begin(term.Epoch, id)
					cmd.App = app
					if _, err := log.Propose(c.ctx(), cmd); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.settle()
			want := log.Status()
			if want.DigestAt != 64 {
				t.Errorf("digest after %d entries, want 64", want.DigestAt)
			}
			for _, n := range c.names {
				if s := c.nodes[n].Status(); s.Digest != want.Digest || s.DigestAt != want.DigestAt || s.Poisoned != nil {
					t.Errorf("%s: %+v, want digest %s at %d", n, s, want.Digest, want.DigestAt)
				}
			}
		})
	})
}

func TestClose(t *testing.T) {
	t.Run("ends_what_waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.Options{})
			follower := c.nodes[c.others(c.leader())[0]]
			results := make(chan error, 1)
			go func() { _, err := follower.Lead(context.Background()); results <- err }()
			synctest.Wait()
			c.close()
			if err := <-results; err == nil || !strings.Contains(err.Error(), driverlog.ErrClosed.Error()) {
				t.Errorf("Lead = %v, want ErrClosed", err)
			}
			c.close() // once more
		})
	})
	t.Run("of_a_node_that_nobody_joined", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFabric()
			log := open(t, t.TempDir(), raftlog.Options{Name: "n1", Network: f.listen("n1"), Address: "n1"})
			if s := log.Status(); s.Role != "follower" || s.Cluster != "" || len(s.Members) != 0 || s.LastContact >= 0 {
				t.Errorf("status %+v", s)
			}
			if state, err := log.State(t.Context()); err != nil || state.Index != 0 {
				t.Errorf("State = %+v, %v", state, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := log.Lead(ctx); err == nil {
				t.Error("it leads")
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestOptions(t *testing.T) {
	f := newFabric()
	for _, tt := range []struct {
		name string
		opts raftlog.Options
	}{
		{"a_name_with_a_space", raftlog.Options{Name: "driver 1"}},
		{"a_long_name", raftlog.Options{Name: strings.Repeat("n", 65)}},
		{"a_network_without_an_address", raftlog.Options{Network: f.listen("n1")}},
		{"an_address_without_a_network", raftlog.Options{Address: "n1"}},
		{"a_long_address", raftlog.Options{Network: f.listen("n1"), Address: strings.Repeat("n", 256)}},
		{"a_lease_longer_than_a_heartbeat", raftlog.Options{Timeouts: raftlog.Timeouts{Heartbeat: time.Second, Election: time.Second, Lease: 2 * time.Second}}},
		{"timeouts_in_part", raftlog.Options{Timeouts: raftlog.Timeouts{Heartbeat: time.Second}}},
		{"a_negative_stall", raftlog.Options{Stall: -1}},
		{"more_free_than_a_disk_has", raftlog.Options{MinFree: 1<<60 + 1}},
	} {
		t.Run(tt.name+"_is_refused", func(t *testing.T) {
			if log, err := raftlog.Open(t.TempDir(), tt.opts); err == nil {
				t.Error("Open accepted it")
				_ = log.Close()
			}
		})
	}
	t.Run("the_zero_value_prints_its_defaults", func(t *testing.T) {
		want := "name driver alone, bootstrap true, heartbeat 20ms, election 20ms, lease 10ms, stall 10s, snapshot every 4096, trailing 4096, up to 67108864 bytes kept free"
		if got := (raftlog.Options{}).String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
	})
	for _, ts := range []raftlog.Timeouts{raftlog.Single(), raftlog.Fast(), raftlog.Default(), raftlog.Wide()} {
		if err := (raftlog.Options{Timeouts: ts}).Validate(); err != nil {
			t.Errorf("%+v: %v", ts, err)
		}
	}
}
