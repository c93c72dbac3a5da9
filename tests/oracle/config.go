package oracle

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
)

// A Config says how a plan is run. It must make no difference.
type Config struct {
	Parts            int  // partitions of sources, and the default of shuffles
	Unset            bool // leaves the default of shuffles to their parents
	Executors, Slots int
	Isolate          bool // everything goes through its codec
	// Lag is how many batches of a stream are generated before the first one runs.
	Lag int
	// Again runs the jobs of every batch of a stream a second time, after those of the next batch.
	Again bool
	// Memory is the budget of all executors in bytes; 0 is what the machine has.
	Memory int64
	// Fair runs the outputs of an RDD plan at once, in pools.
	Fair bool
	// Local has tasks wait a little for the place they prefer, Exclude keeps them from executors where they failed.
	Local, Exclude bool
	// Kills is how many executors are lost, Spoils how many blocks and files are damaged, Meddles how many
	// attempts fail, die or report twice. Stalls is how many calls of functions wait and Hangs how many
	// attempts never run, for which speculation is on. When chooses the moments, over the Work of a run
	// that loses nothing.
	Kills, Spoils, Meddles, Stalls, Hangs int
	When                                  uint64
	Work                                  Work
}

// String returns the settings that matter for a failure.
func (c Config) String() string {
	return fmt.Sprintf("parts=%d unset=%v executors=%d slots=%d isolate=%v lag=%d again=%v memory=%d fair=%v local=%v exclude=%v faults=%+v",
		c.Parts, c.Unset, c.Executors, c.Slots, c.Isolate, c.Lag, c.Again, c.Memory, c.Fair, c.Local, c.Exclude, c.schedule())
}

// calm is the config without what befalls it.
func (c Config) calm() Config {
	c.Kills, c.Spoils, c.Meddles, c.Stalls, c.Hangs, c.Exclude = 0, 0, 0, 0, 0, false
	return c
}

// harms reports whether anything befalls the run; loses whether blocks may be lost.
func (c Config) harms() bool { return c.loses() || c.speculates() }
func (c Config) loses() bool { return c.Kills+c.Spoils+c.Meddles > 0 }

func (c Config) speculates() bool { return c.Stalls+c.Hangs > 0 }

// Configs returns the settings a seed's plan is run with: 1, 2 and 7 partitions, with and without isolation, the
// second time of each with faults. Half of those, and a quarter of the others,
// have little memory.
func Configs(seed uint64) []Config {
	r := rand.New(rand.NewPCG(seed, 0xc0f))
	var all []Config
	for _, parts := range []int{1, 2, 7} {
		isolate := r.IntN(2) == 0
		for _, faulty := range []bool{false, true} {
			c := Config{
				Parts: parts, Unset: r.IntN(3) == 0, Executors: 1 + r.IntN(3), Slots: 1 + r.IntN(2),
				Isolate: isolate, Lag: max(0, r.IntN(5)-2), Again: r.IntN(3) == 0, When: r.Uint64(),
				Fair: r.IntN(3) == 0, Local: r.IntN(6) == 0,
			}
			if faulty {
				c.befall(r)
			}
			if tight := 1 + r.IntN(4); tight == 1 || tight == 2 && faulty {
				c.Memory = []int64{1 << 20, 512 << 10, 64 << 10, 6 << 10}[r.IntN(4)]
			}
			all = append(all, c)
			isolate = !isolate
		}
	}
	return all
}

// befall adds faults, one kind at least.
func (c *Config) befall(r *rand.Rand) {
	for !c.harms() {
		if r.IntN(2) == 0 {
			c.Kills = 1 + r.IntN(3)
		}
		if r.IntN(2) == 0 {
			c.Spoils = 1 + r.IntN(4)
		}
		if r.IntN(4) == 0 {
			c.Meddles = 1 + r.IntN(3)
		}
		if r.IntN(8) == 0 {
			c.Stalls = 1 + r.IntN(2)
		}
		if r.IntN(6) == 0 {
			c.Hangs = 1 + r.IntN(2)
		}
	}
	if c.speculates() {
		// What hangs takes slots, and a copy needs one on another executor.
		c.Executors, c.Slots = max(c.Executors, 2), 2
	}
	// One failure leaves enough executors that have none. A kept partition that is spoilt is one, where it was to be read.
	if c.Exclude = c.Meddles == 1 && c.Executors == 3; c.Exclude {
		c.Executors += c.Spoils
	}
}

// schedule returns the faults.
func (c Config) schedule() []Fault {
	r := rand.New(rand.NewPCG(c.When, 0xdead))
	var all []Fault
	for harm, n := range [...]int{Lose: c.Kills, Spoil: c.Spoils, Stall: c.Stalls, Hang: c.Hangs, Meddle: c.Meddles} {
		for range n {
			x := Fault{Harm: Harm(harm), Tasks: r.IntN(2) == 0, Which: r.IntN(8), First: r.IntN(2) == 0}
			if x.Harm == Stall {
				x.Tasks = false
			}
			if x.Harm == Hang || x.Harm == Meddle {
				x.Tasks = true
			}
			x.At = 1 + r.Int64N(max(c.Work.Calls, 1))
			if x.Tasks {
				x.At = 1 + r.Int64N(max(c.Work.Tasks, 1))
			}
			all = append(all, x)
		}
	}
	return all
}

// scheduler returns the scheduler's options.
func (c Config) scheduler(listeners ...scheduler.Listener) scheduler.Options {
	o := scheduler.Options{MaxFailures: 8, MaxStageFailures: 100, Listeners: listeners}
	if c.Fair {
		o.Mode = scheduler.FAIR
		o.Pools = []scheduler.Pool{{Name: pools[0], Weight: 2, MinShare: 1}, {Name: pools[1], Mode: scheduler.FAIR}}
	}
	if c.Local {
		o.LocalityWait = 2 * time.Millisecond
	}
	o.Exclusion.Enabled = c.Exclude
	if c.speculates() {
		o.Speculation = scheduler.Speculation{Enabled: true, AnyRate: true, Interval: time.Millisecond, Quantile: 0.3,
			Multiplier: 2, MinRuntime: 5 * time.Millisecond, Threshold: 5 * time.Millisecond}
	}
	return o
}

// pools are those that outputs run in at once.
var pools = [...]string{"heavy", "light"}

// options returns those of the context that RDDs are made in.
func (c Config) options(p *Plan, checkpoints string) rdd.Options {
	opts := rdd.Options{DefaultParallelism: c.Parts, CheckpointDir: checkpoints}
	// State below another checkpoint would never be written without it, and what a loss makes again
	// would go back to batches that have been forgotten.
	opts.CheckpointAllMarked = p.Stream
	if c.Unset {
		opts.DefaultParallelism, opts.Cores = 0, c.Parts
	}
	return opts
}
