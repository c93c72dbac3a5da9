package logtest

import (
	"context"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A Factory opens the logs of one implementation.
type Factory interface {
	// Open returns an empty log that leads, or soon will, without help. The suite closes it.
	Open(t *testing.T) driverlog.Log
}

// A Reopener is a Factory whose logs outlive Close.
type Reopener interface {
	// Reopen closes log and returns another with everything that log had answered.
	Reopen(t *testing.T, log driverlog.Log) driverlog.Log
}

// A Crasher is a Factory whose logs outlive the end of a process that does not close them.
type Crasher interface {
	// Crash ends log as the end of its process would, without Close, and returns another with everything that log had answered,
	// but for the Committed ones that no command of another kind followed. The suite uses log no more.
	Crash(t *testing.T, log driverlog.Log) driverlog.Log
}

// A Copier is a Factory whose logs keep what they know in files.
type Copier interface {
	// Copy copies the files of log, which other goroutines may be using, and opens the copy. The error, if there
	// is one, must be one of a damaged log, and says that the copy has caught it in the middle of a change.
	Copy(t *testing.T, log driverlog.Log) (driverlog.Log, error)
}

// A Deposer is a Factory that can end a term from outside.
type Deposer interface {
	// Depose ends log's term and returns when another may begin.
	Depose(t *testing.T, log driverlog.Log)
}

// Run runs the suite against the logs of factory.
func Run(t *testing.T, factory Factory) {
	cases := []struct {
		name string
		run  func(s *suite)
	}{
		{"life_of_a_batch", lifeOfABatch},
		{"inputs_are_copied_in_and_state_is_copied_out", copies},
		{"overlapping_batches_are_prepared_and_committed_in_order", overlap},
		{"batch_ids_are_dense", density},
		{"batch_times_rise", timeOrder},
		{"open_batches_are_bounded", window},
		{"a_manifest_is_decided_once", conflict},
		{"refused_commands_change_nothing", refusals},
		{"older_epochs_are_fenced", fencing},
		{"a_request_takes_effect_once", dedup},
		{"a_request_keeps_its_answer_past_its_epoch", dedupAcrossEpochs},
		{"callers_share_a_term", sharedTerm},
		{"proposers_of_different_applications_overlap", concurrentApps},
		{"of_racing_proposers_one_wins", racingProposers},
		{"an_ended_context_is_obeyed", contextEnded},
		{"close_ends_everything", closing},
		{"an_application_is_registered_once", registration},
		{"a_registered_application_keeps_inputs_up_to_its_checkpoint", keeping},
		{"checkpoints_never_go_back", checkpointOrder},
		{"commands_proposed_together_have_consecutive_indexes", together},
		{"commands_proposed_together_stop_at_the_first_refusal", togetherRefused},
		{"commands_proposed_together_are_not_interleaved", togetherRacing},
		{"commands_proposed_together_obey_context_and_close", togetherEnded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(newSuite(t, factory)) })
	}
	if r, ok := factory.(Reopener); ok {
		t.Run("state_survives_reopening", func(t *testing.T) { reopening(newSuite(t, factory), r) })
		t.Run("epochs_rise_across_reopening", func(t *testing.T) { reopenedEpochs(newSuite(t, factory), r) })
		t.Run("a_long_life_survives_reopening", func(t *testing.T) { reopenedLife(newSuite(t, factory), r) })
	}
	if c, ok := factory.(Crasher); ok {
		t.Run("everything_answered_survives_a_crash", func(t *testing.T) { crashing(newSuite(t, factory), c) })
		t.Run("only_the_last_committed_ones_may_be_undone", func(t *testing.T) { crashedCommits(newSuite(t, factory), c) })
		t.Run("a_long_life_survives_crashes", func(t *testing.T) { crashedLife(newSuite(t, factory), c) })
	}
	if c, ok := factory.(Copier); ok {
		t.Run("a_copy_of_a_log_in_use_is_whole_or_refused", func(t *testing.T) { copying(newSuite(t, factory), c) })
	}
	if d, ok := factory.(Deposer); ok {
		t.Run("a_deposed_leader_is_told_and_fenced", func(t *testing.T) { deposing(newSuite(t, factory), d) })
		t.Run("while_leading_runs_once_a_term", func(t *testing.T) { whileLeading(newSuite(t, factory), d) })
	}
}

// A suite is one case's log and the shorthand to use it.
type suite struct {
	*testing.T
	ctx   context.Context
	log   driverlog.Log
	epoch uint64
}

// newSuite opens a log and waits for its first term.
func newSuite(t *testing.T, factory Factory) *suite {
	t.Helper()
	s := &suite{T: t, ctx: t.Context(), log: factory.Open(t)}
	t.Cleanup(func() {
		if err := s.log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	s.epoch = s.lead().Epoch
	return s
}

func (s *suite) lead() driverlog.Term {
	s.Helper()
	term, err := s.log.Lead(s.ctx)
	if err != nil {
		s.Fatalf("Lead: %v", err)
	}
	if term.Epoch == 0 {
		s.Fatal("Lead returned epoch 0")
	}
	return term
}

// start opens a new term by hand, as another node's driver would.
func (s *suite) start(node string) uint64 {
	s.Helper()
	res := s.ok(driverlog.Command{Kind: driverlog.LeaderStart, Node: node})
	if res.Epoch != res.Index {
		s.Fatalf("LeaderStart: epoch %d at index %d, want them equal", res.Epoch, res.Index)
	}
	return res.Epoch
}

// ok proposes cmd, which must be accepted.
func (s *suite) ok(cmd driverlog.Command) driverlog.Result {
	s.Helper()
	res, err := s.log.Propose(s.ctx, cmd)
	if err != nil {
		s.Fatalf("Propose(%s, batch %d): %v", cmd.Kind, cmd.Batch, err)
	}
	return res
}

// state reads the state, which must be possible.
func (s *suite) state() driverlog.State {
	s.Helper()
	state, err := s.log.State(s.ctx)
	if err != nil {
		s.Fatalf("State: %v", err)
	}
	return state
}

// all proposes cmds together, which must be accepted.
func (s *suite) all(cmds ...driverlog.Command) []driverlog.Result {
	s.Helper()
	results, err := s.log.ProposeAll(s.ctx, cmds)
	if err != nil || len(results) != len(cmds) {
		s.Fatalf("ProposeAll of %d commands = %d results, %v", len(cmds), len(results), err)
	}
	return results
}

func (s *suite) application(app string, zero int64, description string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Application, Epoch: s.epoch, App: app, Time: zero, Manifest: []byte(description)}
}

func (s *suite) checkpointed(app string, batch, keep int64, manifest string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Checkpointed, Epoch: s.epoch, App: app, Batch: batch, Keep: keep, Manifest: []byte(manifest)}
}

func (s *suite) begin(app string, batch, time int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Begin, Epoch: s.epoch, App: app, Batch: batch, Time: time}
}

func (s *suite) prepared(app string, batch int64, manifest string) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Prepared, Epoch: s.epoch, App: app, Batch: batch, Manifest: []byte(manifest)}
}

func (s *suite) committed(app string, batch int64) driverlog.Command {
	return driverlog.Command{Kind: driverlog.Committed, Epoch: s.epoch, App: app, Batch: batch}
}
