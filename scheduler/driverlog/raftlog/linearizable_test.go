package raftlog_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A register is what the model knows of one application: the last batch begun, prepared and committed, in an epoch.
type register struct {
	epoch, index uint64 // of the last answer
	next         int64
	prepared     int64 // batches
	committed    int64
	manifest     string // of the last prepared
}

// An outcome is how an operation ended.
type outcome struct {
	unknown bool
	refused bool   // and not fenced
	fenced  uint64 // by this epoch
	index   uint64
	final   *register // of the read at the end
}

// accept returns the register after cmd, and whether cmd is accepted.
func (r register) accept(cmd driverlog.Command) (register, bool) {
	switch cmd.Kind {
	case driverlog.Begin:
		if cmd.Epoch != r.epoch || cmd.Batch != r.next {
			return r, false
		}
		r.next++
	case driverlog.Prepared:
		if cmd.Epoch != r.epoch || cmd.Batch != r.prepared || cmd.Batch >= r.next {
			return r, false
		}
		r.prepared++
		r.manifest = string(cmd.Manifest)
	case driverlog.Committed:
		if cmd.Epoch != r.epoch || cmd.Batch != r.committed || cmd.Batch >= r.prepared {
			return r, false
		}
		r.committed++
	}
	return r, true
}

var registers = porcupine.NondeterministicModel{
	Init: func() []any { return []any{register{}} },
	Step: func(state, input, output any) []any {
		r, cmd, o := state.(register), input.(driverlog.Command), output.(outcome)
		switch {
		case o.final != nil:
			f := *o.final
			if f.next == r.next && f.prepared == r.prepared && f.committed == r.committed && f.manifest == r.manifest {
				return []any{r}
			}
			return nil
		case o.fenced > 0:
			// A LeaderStart that nobody heard the answer of may have come in between.
			if o.fenced <= cmd.Epoch || o.fenced < r.epoch {
				return nil
			}
			r.epoch = o.fenced
			return []any{r}
		case cmd.Kind == driverlog.LeaderStart:
			if cmd.Epoch < r.epoch || cmd.Epoch < r.index {
				return nil
			}
			r.epoch, r.index = cmd.Epoch, max(r.index, cmd.Epoch)
			return []any{r}
		}
		after, ok := r.accept(cmd)
		switch {
		case o.unknown && ok:
			return []any{r, after}
		case o.unknown:
			return []any{r}
		case o.refused:
			if ok || cmd.Epoch != r.epoch {
				return nil
			}
			return []any{r}
		case !ok || o.index <= r.index:
			return nil
		}
		after.index = o.index
		return []any{after}
	},
	Equal: func(a, b any) bool { return a == b },
}

// A recorder keeps what clients did, in the order of a clock that never stands still.
type recorder struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (r *recorder) do(client int, run func() (driverlog.Command, outcome, bool)) {
	call := r.clock.Add(1)
	cmd, o, keep := run()
	if !keep {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: client, Input: cmd, Output: o, Call: call, Return: r.clock.Add(1)})
}

// finish gives operations of unknown outcome the time up to which they may take effect: that of the first answer of a later epoch. Porcupine wants
// each client to be at one thing at a time, so each of them is a client's own.
func (r *recorder) finish() (unknown int) {
	for i := range r.ops {
		if o := r.ops[i].Output.(outcome); !o.unknown {
			continue
		}
		unknown++
		epoch, until := r.ops[i].Input.(driverlog.Command).Epoch, int64(math.MaxInt64)
		for _, op := range r.ops {
			if c := op.Input.(driverlog.Command); c.Kind == driverlog.LeaderStart && c.Epoch > epoch {
				until = min(until, op.Return)
			}
		}
		r.ops[i].Return = max(until, r.ops[i].Return)
		r.ops[i].ClientId = 100 + unknown
	}
	return unknown
}

// drive is one node's driver: it leads when it can, and decides batch after batch from the state it finds.
func drive(ctx context.Context, r *recorder, client int, log *raftlog.Log, rng *rand.Rand) {
	for n := 0; ctx.Err() == nil; {
		var term driverlog.Term
		r.do(client, func() (driverlog.Command, outcome, bool) {
			var err error
			term, err = log.Lead(ctx)
			return driverlog.Command{Kind: driverlog.LeaderStart, Epoch: term.Epoch}, outcome{}, err == nil
		})
		for leads := term.Epoch > 0; leads; n++ {
			state, err := log.State(ctx)
			if err != nil {
				break
			}
			a := state.App("counts")
			cmd := driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts", Batch: a.Next, Time: a.Next}
			if b, ok := a.Batch(a.Oldest()); ok && a.Oldest() < a.Next {
				cmd = driverlog.Command{Kind: driverlog.Prepared, Epoch: term.Epoch, App: "counts", Batch: b.ID, Manifest: fmt.Appendf(nil, "%d-%d", client, n)}
				if b.Prepared > 0 {
					cmd.Kind, cmd.Manifest = driverlog.Committed, nil
				}
			}
			r.do(client, func() (driverlog.Command, outcome, bool) {
				// Some give up early, with the answer on its way.
				ctx, cancel := context.WithTimeout(ctx, time.Duration(1+rng.IntN(400))*time.Millisecond)
				defer cancel()
				res, err := log.Propose(ctx, cmd)
				var fenced *driverlog.FencedError
				switch {
				case err == nil && res.Duplicate:
					return cmd, outcome{}, false // of an unknown one; it says nothing new
				case err == nil:
					return cmd, outcome{index: res.Index}, true
				case errors.As(err, &fenced):
					return cmd, outcome{fenced: fenced.Have}, true
				case driverlog.Refused(err):
					return cmd, outcome{refused: true}, true
				case errors.Is(err, driverlog.ErrUnknown):
					return cmd, outcome{unknown: true}, true
				}
				return cmd, outcome{}, false // it has no effect
			})
			select {
			case <-term.Lost:
				leads = false
			case <-ctx.Done():
				leads = false
			case <-time.After(time.Duration(rng.IntN(40)) * time.Millisecond):
			}
		}
	}
}

// disturb cuts and mends ways until ctx ends.
func disturb(ctx context.Context, c *cluster, rng *rand.Rand) {
	for ctx.Err() == nil {
		a, b := c.names[rng.IntN(len(c.names))], c.names[rng.IntN(len(c.names))]
		switch rng.IntN(6) {
		case 0, 1:
			for _, n := range c.names {
				if c.nodes[n].Leads() {
					c.fabric.isolate(n)
				}
			}
		case 2:
			c.fabric.isolate(a)
		case 3:
			c.fabric.block(a, b)
		case 4:
			c.fabric.slow(time.Duration(rng.IntN(50)) * time.Millisecond)
		case 5:
			_ = c.nodes[a].Resign(ctx) // it leads, or it does not
		}
		select {
		case <-time.After(time.Duration(100+rng.IntN(3000)) * time.Millisecond):
		case <-ctx.Done():
		}
		c.fabric.heal()
		select {
		case <-time.After(time.Duration(100+rng.IntN(2000)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	c.fabric.heal()
	c.fabric.slow(0)
}

func TestLinearizable(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("what_is_answered_under_cuts_is_one_history/seed_%d/I9", seed), func(t *testing.T) {
			var r recorder
			in(t, 3, func(c *cluster) {
				ctx, cancel := context.WithTimeout(c.ctx(), 40*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				for i, n := range c.names {
					log := c.nodes[n]
					wg.Go(func() { drive(ctx, &r, i, log, rand.New(rand.NewPCG(seed, uint64(i)))) })
				}
				disturb(ctx, c, rand.New(rand.NewPCG(seed, 99)))
				wg.Wait()
				log := c.leader()
				c.settle()
				r.do(9, func() (driverlog.Command, outcome, bool) {
					state, err := log.State(c.ctx())
					if err != nil {
						c.Fatal(err)
					}
					a := state.App("counts")
					f := register{next: a.Next, committed: a.Oldest(), prepared: a.Oldest()}
					f.manifest = string(a.Last.Manifest)
					if b, ok := a.Batch(a.Oldest()); ok && b.Prepared > 0 {
						f.prepared, f.manifest = b.ID+1, string(b.Manifest)
					}
					return driverlog.Command{}, outcome{final: &f}, true
				})
			})
			unknown := r.finish()
			result, _ := porcupine.CheckOperationsVerbose(registers.ToModel(), r.ops, 20*time.Second)
			terms := 0
			for _, op := range r.ops {
				if op.Input.(driverlog.Command).Kind == driverlog.LeaderStart {
					terms++
				}
			}
			t.Logf("%d operations, %d of unknown outcome, %d terms", len(r.ops), unknown, terms)
			if result != porcupine.Ok {
				t.Errorf("the history is %s", result)
			}
			if len(r.ops) < 100 || unknown == 0 || terms < 3 {
				t.Error("nothing has happened")
			}
		})
	}
	t.Run("the_model_notices_a_lost_answer", func(t *testing.T) {
		start := driverlog.Command{Kind: driverlog.LeaderStart, Epoch: 1}
		ops := []porcupine.Operation{
			{Input: start, Output: outcome{}, Call: 1, Return: 2},
			{Input: begin(1, 0), Output: outcome{}, Call: 3, Return: 4},
			{Input: driverlog.Command{}, Output: outcome{final: &register{}}, Call: 5, Return: 6},
		}
		ops[1].Input = driverlog.Command{Kind: driverlog.Begin, Epoch: 1}
		ops[1].Output = outcome{index: 2}
		if porcupine.CheckOperations(registers.ToModel(), ops) {
			t.Error("a batch that was begun is missing, and the model is content")
		}
		ops[1].Output = outcome{unknown: true}
		if !porcupine.CheckOperations(registers.ToModel(), ops) {
			t.Error("a batch whose begin is unknown may be missing")
		}
	})
}
