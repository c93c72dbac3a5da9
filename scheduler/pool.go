package scheduler

import (
	"errors"
	"fmt"
)

// DefaultPool is the pool of jobs that name none.
const DefaultPool = "default"

// Mode says how those that share executors are ordered.
type Mode uint8

const (
	// FIFO: the earlier job first, then the earlier stage.
	FIFO Mode = iota
	// FAIR: who is below its minimum share first, then who runs the fewest tasks for its weight.
	FAIR
)

// String returns the mode in capitals.
func (m Mode) String() string {
	switch m {
	case FIFO:
		return "FIFO"
	case FAIR:
		return "FAIR"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// A Pool is a share of the executors, for the jobs whose Properties name it.
//
// Order: in a FAIR pool, who runs fewer tasks than its minimum share comes before who does not; of two
// below it the one that has less of it; of two above it the one that runs fewer tasks for its weight;
// of equals the first by name. A task set has weight 1, no minimum share, and is named
// "TaskSet_<stage>.<attempt>". In a FIFO pool nested pools come first, as they were listed, then task
// sets by job and stage.
type Pool struct {
	Name string
	// Parent is the pool it is nested in; empty: the root.
	Parent string
	// Mode orders what is in the pool.
	Mode Mode
	// Weight is its part relative to others. 0 means 1.
	Weight int
	// MinShare is how many tasks it may run before others of its parent get more than theirs.
	MinShare int
}

func (p Pool) withDefaults() Pool {
	if p.Weight <= 0 {
		p.Weight = 1
	}
	return p
}

// validatePools returns what is wrong with pools, joined: names that are missing or used twice,
// parents that are not listed before, numbers below 0.
func validatePools(pools []Pool) error {
	var errs []error
	seen := map[string]bool{}
	for i, p := range pools {
		report := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("scheduler options: pool %d (%q): "+format, append([]any{i, p.Name}, args...)...))
		}
		switch {
		case p.Name == "":
			report("no name")
		case seen[p.Name]:
			report("the name is used twice")
		}
		if p.Parent != "" && !seen[p.Parent] {
			report("parent %q is not listed before it", p.Parent)
		}
		if p.Mode > FAIR {
			report("%s is no mode", p.Mode)
		}
		if p.Weight < 0 {
			report("Weight is negative")
		}
		if p.MinShare < 0 {
			report("MinShare is negative")
		}
		seen[p.Name] = true
	}
	return errors.Join(errs...)
}
