package oracle

import (
	"fmt"
	"math/rand/v2"
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
	// Kills is how many executors are lost. When chooses the moments, over the Work of a run that
	// loses none.
	Kills int
	When  uint64
	Work  Work
}

// String returns the settings that matter for a failure.
func (c Config) String() string {
	return fmt.Sprintf("parts=%d unset=%v executors=%d slots=%d isolate=%v lag=%d again=%v kills=%+v",
		c.Parts, c.Unset, c.Executors, c.Slots, c.Isolate, c.Lag, c.Again, c.schedule())
}

// Configs returns the settings a seed's plan is run with: 1, 2 and 7 partitions, with and without
// isolation, the second time of each with losses of executors.
func Configs(seed uint64) []Config {
	r := rand.New(rand.NewPCG(seed, 0xc0f))
	var all []Config
	for _, parts := range []int{1, 2, 7} {
		isolate := r.IntN(2) == 0
		for _, kills := range []int{0, 1 + r.IntN(3)} {
			all = append(all, Config{
				Parts: parts, Unset: r.IntN(3) == 0, Executors: 1 + r.IntN(3), Slots: 1 + r.IntN(2),
				Isolate: isolate, Lag: max(0, r.IntN(5)-2), Again: r.IntN(3) == 0, Kills: kills, When: r.Uint64(),
			})
			isolate = !isolate
		}
	}
	return all
}

// schedule returns the losses.
func (c Config) schedule() []Kill {
	r := rand.New(rand.NewPCG(c.When, 0xdead))
	var kills []Kill
	for range c.Kills {
		k := Kill{Tasks: r.IntN(2) == 0, Which: r.IntN(8), First: r.IntN(2) == 0}
		k.At = 1 + r.Int64N(max(c.Work.Calls, 1))
		if k.Tasks {
			k.At = 1 + r.Int64N(max(c.Work.Tasks, 1))
		}
		kills = append(kills, k)
	}
	return kills
}

// Work is how much a run did: calls of the pipeline's functions, tasks that started, executors it lost.
type Work struct{ Calls, Tasks, Lost int64 }
