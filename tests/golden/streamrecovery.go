package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// A life is what one process of a case did: from its start up to the recovery behind it.
type life struct {
	builder  *StreamBuilder
	asked    *AskedLog
	declared []StreamOutput
	batches  map[string]map[dstream.Time]Parts
}

// outlives reports whether the case asks for what is left of a process.
func (c *DStreamCase) outlives() bool {
	for _, raw := range c.Script {
		var step struct{ Do string }
		if json.Unmarshal(raw, &step) == nil && slices.Contains([]string{"recover", "checkpoint-time", "checkpoint-files"}, step.Do) {
			return true
		}
	}
	return false
}

// stateDir is the folder that outlives the processes of the case.
func (r *streamRun) stateDir() string { return filepath.Join(r.opts.Dir, "checkpoint") }

// create makes a context on the case's folder, which goes on where the last one was.
func (r *streamRun) create(ctx context.Context) error {
	so, eo, err := r.options()
	if err != nil {
		return err
	}
	eo.CheckpointDir, eo.DurableCheckpoints = filepath.Join(r.stateDir(), "state"), true
	so.RepeatLast = true // the newest batch of a checkpoint is always run again
	if r.engine, err = streamingcontext.NewEngine(eo); err != nil {
		return err
	}
	so.Engine = r.engine
	r.ssc, err = streamingcontext.GetOrCreate(r.stateDir(), so, func(ssc *streamingcontext.Context) error {
		r.ssc = ssc
		return r.setUp(ctx)
	})
	return err
}

// setUp declares what the case does, and what its script has declared in an earlier process before that was started.
func (r *streamRun) setUp(ctx context.Context) error {
	zero := dstream.Time(0)
	if r.builder != nil {
		zero = r.builder.Zero
	}
	r.asked = &AskedLog{}
	r.builder = NewStreamBuilder(r.ssc, r.filesDir(), r.asked)
	r.builder.Zero, r.declared = zero, nil
	if r.c.RememberMs > 0 {
		if err := r.ssc.Remember(milliseconds(r.c.RememberMs)); err != nil {
			return err
		}
	}
	if err := r.steps(ctx, r.c.Before); err != nil {
		return err
	}
	done, err := r.declare(ctx)
	if err != nil {
		return err
	}
	if done {
		return errors.New("a case whose declaration fails has no recovery")
	}
	for _, s := range r.late {
		if _, _, err := r.changing(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.Do, err)
		}
	}
	return nil
}

// declaresLate keeps a step that declared something before the first start, which every later process declares as well.
func (r *streamRun) declaresLate(s Step) {
	if len(r.lives) == 0 && r.ssc.State() == streamingcontext.Initialized &&
		slices.Contains([]string{"node", "output", "remember", "persist", "checkpoint"}, s.Do) {
		r.late = append(r.late, s)
	}
}

// recover ends the process and makes another one on its folder. The clock is at the newest time that is kept, and further by what
// the case says.
func (r *streamRun) recover(ctx context.Context) (Answer, error) {
	if err := r.end(ctx); err != nil {
		return nil, err
	}
	before, err := r.restart()
	if err != nil {
		return nil, err
	}
	var jump int64
	if raw, ok := r.conf[jumpSetting]; ok {
		if jump, err = wholeNumber(raw); err != nil {
			return nil, fmt.Errorf("setting %s: %w", jumpSetting, err)
		}
	}
	r.lives = append(r.lives, life{r.builder, r.asked, r.declared, r.outputs.nextLife()})
	r.clock = &streamingcontext.ManualClock{}
	r.clock.Set(int64(before.Last) + jump)
	r.events = &EventLog{}
	r.builder.Zero = before.Zero
	if err := r.create(ctx); err != nil {
		return nil, err
	}
	defer r.opts.Idle()
	if err := r.ssc.Start(ctx); err != nil {
		return nil, err
	}
	zero, _ := r.ssc.Graph().Zero()
	r.opts.Idle()
	return Fact{map[string]any{"clock": r.clock.Now(), "zero": int64(zero)}}, nil
}

// end ends the process as far as it goes on.
func (r *streamRun) end(ctx context.Context) error {
	err := r.ssc.Stop(ctx, streamingcontext.StopOptions{})
	if r.engine != nil {
		err = errors.Join(err, r.engine.Close())
	}
	return err
}

// restart returns what the next process would go on with.
func (r *streamRun) restart() (streamingcontext.RestartInfo, error) {
	all, err := streamingcontext.Restarts(r.stateDir())
	if err != nil {
		return streamingcontext.RestartInfo{}, err
	}
	if len(all) != 1 {
		return streamingcontext.RestartInfo{}, fmt.Errorf("%d applications in the folder", len(all))
	}
	return all[0], nil
}

// keeping are the steps about what outlives the process.
func (r *streamRun) keeping(ctx context.Context, s Step) (done bool, answer Answer, err error) {
	switch s.Do {
	case "recover":
		answer, err := r.recover(ctx)
		return true, answer, err
	case "conf": // counts for the next context, which only a recovery makes
		if r.conf == nil {
			r.conf = map[string]json.RawMessage{}
		}
		r.conf[s.K] = s.V
		return true, nil, nil
	case "checkpoint-time":
		info, err := r.restart()
		if err != nil {
			return true, nil, err
		}
		pending := []int64{}
		for _, t := range slices.Sorted(slices.Values(slices.Concat(info.Pending, info.SetAside))) {
			pending = append(pending, int64(t))
		}
		return true, Fact{map[string]any{"time": int64(info.Last), "pending": pending}}, nil
	case "checkpoint-files":
		return true, ownRule{}, r.checkpointFiles()
	}
	return false, nil, nil
}

// checkpointFiles checks what there is here of the rule about names of checkpoint files: decisions are in a log, and of what they
// name exactly the newest is there, whole.
func (r *streamRun) checkpointFiles() error {
	all, err := streamingcontext.Checkpoints(r.stateDir())
	if err != nil {
		return err
	}
	counts := 0
	for _, c := range all {
		if c.Counts {
			counts++
		}
		if c.Damage != "" {
			return fmt.Errorf("%s: %s", c.File, c.Damage)
		}
	}
	if len(all) > 1 || counts != len(all) {
		return fmt.Errorf("%d checkpoints in the folder, of which %d count", len(all), counts)
	}
	_, err = streamingcontext.VerifyCheckpoint(r.stateDir())
	return err
}

// ownRule is the answer of a step that leat answers by its own rule on purpose, which the step has checked: the names of
// checkpoint files, of which leat keeps one beside the driver log, where Spark keeps ten and no log.
type ownRule struct{}

// Matches implements Answer.
func (ownRule) Matches(string, json.RawMessage) error { return nil }

// jumpSetting is how far the clock of the next context is behind the newest time that is kept.
const jumpSetting = "spark.streaming.manualClock.jump"

// wholeNumber reads a setting, which may be a number or its text.
func wholeNumber(raw json.RawMessage) (n int64, err error) {
	return n, json.Unmarshal(bytes.Trim(raw, `"`), &n)
}
