package main

import (
	"context"

	"github.com/leat-io/leat/tests/bench/workload"
)

// measureSkew measures reduceByKey where keys are unequal, against the same where they are alike.
func measureSkew(ctx context.Context, s *suite) error {
	kinds := []struct {
		name    string
		options workload.PairsOptions
	}{
		{"uniform", workload.PairsOptions{}},
		{"one key with half of all", workload.PairsOptions{Hot: true}},
		{"Zipf s=2", workload.PairsOptions{Zipf: true, Steep: true}},
		{"Zipf s=2, and one key with half", workload.PairsOptions{Zipf: true, Steep: true, Hot: true}},
	}
	inputs := make([]pairInput, len(kinds))
	for i, kind := range kinds {
		in, err := newPairInput(kind.options, 0, s.size.Records())
		if err != nil {
			return err
		}
		inputs[i] = in
	}
	for _, cores := range s.cores {
		if err := s.onEngine(cores, func(e *engine) error {
			subjects := make([]subject, len(kinds))
			for i, kind := range kinds {
				subjects[i] = inputs[i].reduced(kind.name, e, cores, shuffleParts)
			}
			m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
			if err != nil {
				return err
			}
			r := row{workload: "skew", size: s.size, records: s.size.Records()}
			for i, kind := range kinds[1:] {
				r.variant = "reduceByKey, " + kind.name
				s.table.add(compare(r, m[i+1], m[0], cpuOf, atLeast(0.5, 1)))
				if cores > 1 {
					r.variant += ", wall"
					s.table.add(compare(r, m[i+1], m[0], wallOf, atLeast(0.5, 1)))
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
