package streamingcontext

import (
	"math/big"
	"slices"

	"github.com/leat-io/leat/scheduler"
)

// This file decides where receivers run, and nothing else: its functions have no state, and among equals the first one
// wins, by the order in which receivers or executors are given. A place is the name of an executor, or of a host that no
// executor runs on yet.

// A placed receiver is what placement knows of a receiver.
type placed struct {
	stream    int
	preferred string // the host it would like, empty for none
	state     placedState
	// candidates are the places it may run at, best first, while it is scheduled; executor is where it is, once active.
	candidates []string
	executor   scheduler.ExecutorID
}

type placedState int

const (
	inactive placedState = iota
	scheduled
	active
)

// placeAll returns the candidates of each receiver, for a start: a receiver that prefers a host gets the least loaded
// executor on it, or the host itself if there is none; the others get the least loaded executor of all; then each executor
// that has got nothing is one more candidate of a receiver with the fewest. Without executors nobody has candidates.
func placeAll(receivers []placed, executors []scheduler.ExecutorInfo) [][]string {
	candidates := make([][]string, len(receivers))
	if len(executors) == 0 {
		return candidates
	}
	load := make([]int, len(executors))
	give := func(receiver, executor int) {
		candidates[receiver] = append(candidates[receiver], string(executors[executor].ID))
		load[executor]++
	}
	for i, r := range receivers {
		if r.preferred == "" {
			continue
		}
		if e := leastOf(load, func(e int) bool { return executors[e].Host == r.preferred }); e >= 0 {
			give(i, e)
		} else {
			candidates[i] = append(candidates[i], r.preferred)
		}
	}
	everywhere := func(int) bool { return true }
	for i := range receivers {
		if len(candidates[i]) == 0 {
			give(i, leastOf(load, everywhere))
		}
	}
	if len(receivers) == 0 {
		return candidates
	}
	for e := range executors {
		if load[e] > 0 {
			continue
		}
		fewest := 0
		for i := range candidates {
			if len(candidates[i]) < len(candidates[fewest]) {
				fewest = i
			}
		}
		give(fewest, e)
	}
	return candidates
}

// leastOf returns the index of the least load among those that suit, -1 if none does.
func leastOf(load []int, suits func(i int) bool) int {
	least := -1
	for i, n := range load {
		if suits(i) && (least < 0 || n < load[least]) {
			least = i
		}
	}
	return least
}

// placeAgain returns the candidates of a receiver that has to move: the host it prefers, and all executors with the least
// weight, which are the idle ones if there are any. An active receiver weighs 1 on its executor, a scheduled one 1/n on each of
// its n candidates, an inactive one nothing. Without executors there are no candidates.
func placeAgain(preferred string, others []placed, executors []scheduler.ExecutorInfo) []string {
	if len(executors) == 0 {
		return nil
	}
	// Weights are fractions, since sums of the same thirds and halves must be equal whatever their order.
	weights := make([]big.Rat, len(executors))
	add := func(name string, share *big.Rat) {
		i := slices.IndexFunc(executors, func(e scheduler.ExecutorInfo) bool { return string(e.ID) == name })
		if i >= 0 {
			weights[i].Add(&weights[i], share)
		}
	}
	for _, r := range others {
		switch r.state {
		case active:
			add(string(r.executor), big.NewRat(1, 1))
		case scheduled:
			for _, name := range r.candidates {
				add(name, big.NewRat(1, int64(len(r.candidates))))
			}
		}
	}
	least := &weights[0]
	for i := range weights {
		if weights[i].Cmp(least) < 0 {
			least = &weights[i]
		}
	}
	var candidates []string
	if preferred != "" {
		candidates = append(candidates, preferred)
	}
	for i, e := range executors {
		if weights[i].Cmp(least) == 0 && string(e.ID) != preferred {
			candidates = append(candidates, string(e.ID))
		}
	}
	return candidates
}

// settleOn returns the executor that a receiver with such candidates runs on: the first that is there, or the first on a
// host that is named; empty if none is.
func settleOn(candidates []string, executors []scheduler.ExecutorInfo) scheduler.ExecutorID {
	for _, name := range candidates {
		for _, e := range executors {
			if string(e.ID) == name || e.Host == name {
				return e.ID
			}
		}
	}
	return ""
}
