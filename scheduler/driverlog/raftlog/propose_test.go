package raftlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestPropose(t *testing.T) {
	log := open(t, t.TempDir(), raftlog.Options{})
	defer log.Close()
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("commands_before_a_malformed_one_take_effect", func(t *testing.T) {
		results, err := log.ProposeAll(t.Context(), []driverlog.Command{begin(term.Epoch, 0), {Kind: 99}, begin(term.Epoch, 1)})
		var bad *driverlog.CommandError
		if len(results) != 1 || !errors.As(err, &bad) {
			t.Errorf("ProposeAll = %v, %v; want one result and a CommandError", results, err)
		}
		results, err = log.ProposeAll(t.Context(), []driverlog.Command{begin(term.Epoch, 5), {Kind: 99}})
		var dense *driverlog.DenseError
		if len(results) != 0 || !errors.As(err, &dense) {
			t.Errorf("ProposeAll = %v, %v; want the refusal of the first", results, err)
		}
	})
	t.Run("more_than_an_entry_holds_is_refused", func(t *testing.T) {
		var cmds []driverlog.Command
		for id := range int64(17) {
			cmd := begin(term.Epoch, id+1)
			cmd.Inputs = []driverlog.Input{{Data: make([]byte, driverlog.MaxPayload)}}
			cmds = append(cmds, cmd)
		}
		var limit *driverlog.LimitError
		if results, err := log.ProposeAll(t.Context(), cmds); len(results) != 0 || !errors.As(err, &limit) {
			t.Errorf("ProposeAll = %d results, %v; want a LimitError", len(results), err)
		}
		if results, err := log.ProposeAll(t.Context(), cmds[:15]); len(results) != 15 || err != nil {
			t.Errorf("ProposeAll = %d results, %v; want 15", len(results), err)
		}
	})
	t.Run("every_call_obeys_its_context_while_the_disk_hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fault := &raftlog.Fault{}
			c := newCluster(t, 1, raftlog.WithFault(raftlog.Options{Stall: time.Hour}, fault))
			log, term := c.lead("n1")
			c.opts = raftlog.Options{}
			c.grow()
			release, hung := fault.Hang()
			calls := []struct {
				name string
				run  func(ctx context.Context) error
			}{
				{"Propose", func(ctx context.Context) error { _, err := log.Propose(ctx, begin(term.Epoch, 0)); return err }},
				{"ProposeAll", func(ctx context.Context) error {
					_, err := log.ProposeAll(ctx, []driverlog.Command{begin(term.Epoch, 0)})
					return err
				}},
				{"Join", func(ctx context.Context) error {
					return log.Join(ctx, raftlog.Member{ID: "n3-0123456789abcdef", Address: "n3"})
				}},
				{"Remove", func(ctx context.Context) error { return log.Remove(ctx, c.nodes["n2"].ID()) }},
				{"Transfer", func(ctx context.Context) error { return log.Transfer(ctx, "") }},
				{"Snapshot", log.Snapshot},
			}
			for _, call := range calls {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				before := time.Now()
				err := call.run(ctx)
				if d := time.Since(before); !errors.Is(err, context.DeadlineExceeded) || d != time.Second {
					t.Errorf("%s = %v after %s, want the context's error after a second", call.name, err, d)
				}
				cancel()
			}
			<-hung
			log.Status()
			release()
			c.close()
		})
	})
}

func TestDamagedFile(t *testing.T) {
	t.Run("no_page_of_it_ends_the_process", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{})
		term, err := log.Lead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id := range int64(50) {
			if _, err := log.Propose(t.Context(), begin(term.Epoch, id)); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "raft.db"))
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for at := 0; at < len(data); at += 4096 {
			bad := t.TempDir()
			copyDir(t, dir, bad)
			page := append([]byte(nil), data...)
			clear(page[at:min(at+4096, len(page))])
			if err := os.WriteFile(filepath.Join(bad, "raft.db"), page, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := raftlog.Verify(bad); err != nil {
				refused++
				if log, err := raftlog.Open(bad, raftlog.Options{}); err == nil {
					t.Errorf("page %d: Verify refuses it, Open does not", at/4096)
					_ = log.Close()
				}
				continue
			}
			// What Verify lets pass can be gone on from.
			log, err := raftlog.Open(bad, raftlog.Options{})
			if err != nil {
				t.Errorf("page %d: Verify lets it pass, Open = %v", at/4096, err)
				continue
			}
			state, err := log.State(t.Context())
			if a := state.App("counts"); err != nil || a.Next < 49 {
				t.Errorf("page %d: %d batches, %v", at/4096, a.Next, err)
			}
			if err := log.Close(); err != nil {
				t.Errorf("page %d: Close: %v", at/4096, err)
			}
		}
		if refused == 0 {
			t.Error("no page mattered")
		}
		t.Logf("%d of %d pages matter", refused, len(data)/4096)
	})
}
