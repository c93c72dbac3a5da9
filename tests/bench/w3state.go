package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// measureState measures W3: what a batch costs that touches some of very many keys with state, on one core.
func measureState(ctx context.Context, s *suite) error {
	r := row{workload: "W3", size: s.size}
	keys := s.size.Records()
	if s.wants("1 % touched") {
		if err := measureTouched(ctx, s, r, keys); err != nil {
			return err
		}
	}
	if s.wants("idle batch") {
		if err := measureIdle(ctx, s, r, keys); err != nil {
			return err
		}
	}
	if s.wants("bytes a key") {
		if err := measureStateBytes(ctx, s, r, keys); err != nil {
			return err
		}
	}
	if s.wants("curve") {
		return measureCurve(ctx, s, r, keys)
	}
	return nil
}

// opened makes the streams of kinds and runs their first batches. What it returns last closes them.
func opened(ctx context.Context, s *suite, in stateInput, kinds ...stateKind) (all []*stated, close func() error, err error) {
	close = func() error {
		var errs []error
		for _, x := range all {
			errs = append(errs, x.close())
		}
		return errors.Join(errs...)
	}
	for _, kind := range kinds {
		x, err := newStated(kind, in, s.cores[0], s.dir)
		if err != nil {
			return nil, nil, errors.Join(err, close())
		}
		all = append(all, x)
		for range 2 * stateEvery { // as many as are remembered
			if err := x.batch(ctx); err != nil {
				return nil, nil, errors.Join(fmt.Errorf("%s: %w", x.name, err), close())
			}
		}
	}
	return all, close, nil
}

// measureTouched compares batches that touch one key in a hundred with a Go map and with a pass over all keys.
func measureTouched(ctx context.Context, s *suite, r row, keys int) (err error) {
	cores := s.cores[0]
	in, err := newStateInput(keys, keys/100, cores)
	if err != nil {
		return err
	}
	all, close, err := opened(ctx, s, in, updateTouched, mapState, mapStateTimeout, updateAll)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	const batches = stateEvery - 1
	subjects := []subject{stateMap(in, cores, 5*batches)}
	for _, x := range all {
		n := batches
		if x.name == updateAll.name {
			n = 2
		}
		subjects = append(subjects, x.subject(ctx, cores, n))
	}
	m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	r.records = in.perBatch()
	for i, x := range all[:3] {
		r.variant = x.name + ", 1 % touched"
		row := compare(r, m[i+1], m[0], cpuOf, atMost(2.5, 1.5))
		row.note = fmt.Sprintf("cost is of a touched key of %d; a batch with a checkpoint takes %v", keys, x.checkpoint.cpu.Round(time.Millisecond))
		s.table.add(row)
	}
	for i, x := range all[:2] {
		r.variant = x.name + ", 1 % touched"
		row := gain(r, m[i+1], m[4], cpuOf, atLeast(20, 40))
		row.note = "a batch against one that looks at every key; " + row.note
		s.table.add(row)
	}
	return nil
}

// measureIdle measures batches without data.
func measureIdle(ctx context.Context, s *suite, r row, keys int) (err error) {
	cores := s.cores[0]
	in, err := newStateInput(keys, 0, cores)
	if err != nil {
		return err
	}
	all, close, err := opened(ctx, s, in, updateTouched, mapState, mapStateTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	var subjects []subject
	for _, x := range all {
		subjects = append(subjects, x.subject(ctx, cores, stateEvery-1))
	}
	m, err := interleave(ctx, s.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	for i, x := range all {
		r.variant, r.records = x.name+", idle batch", 1
		row := compare(r, m[i], m[i], wallOf, within(time.Millisecond, 300*time.Microsecond))
		row.peer, row.note = "", fmt.Sprintf("wall; %d keys with state", keys)
		s.table.add(row)
	}
	return nil
}

// stateBytes is how many bytes a live key of an integer with an integer may take.
const stateBytes = 64

// measureStateBytes measures what the states take.
func measureStateBytes(ctx context.Context, s *suite, r row, keys int) error {
	for _, kind := range []stateKind{updateTouched, mapState} {
		in, err := newStateInput(keys, 1, s.cores[0])
		if err != nil {
			return err
		}
		before := footprintNow().heap
		all, close, err := opened(ctx, s, in, kind)
		if err != nil {
			return err
		}
		r.cost = (float64(footprintNow().heap) - float64(before)) / float64(keys)
		if err := errors.Join(all[0].check(ctx), close()); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		r.variant, r.peer, r.floor, r.rounds, r.records, r.cores = kind.name+", bytes a key", fmt.Sprint(stateBytes), atMost(1, 0.8), 1, keys, s.cores[0]
		r.ratio = same(r.cost / stateBytes)
		r.note = "bytes where others have ns"
		s.table.add(r)
	}
	return nil
}

// measureCurve measures batches that touch more and more of the keys.
func measureCurve(ctx context.Context, s *suite, r row, keys int) error {
	for _, one := range []int{10_000, 1000, 100, 10, 1} {
		if keys < one {
			continue
		}
		if err := measureShare(ctx, s, r, keys, one); err != nil {
			return fmt.Errorf("one key in %d: %w", one, err)
		}
	}
	return nil
}

// measureShare measures batches that touch one key in so many.
func measureShare(ctx context.Context, s *suite, r row, keys, one int) (err error) {
	cores := s.cores[0]
	in, err := newStateInput(keys, keys/one, cores)
	if err != nil {
		return err
	}
	all, close, err := opened(ctx, s, in, updateTouched, mapState)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, close()) }()
	batches := stateEvery - 1
	if one < 100 {
		batches = 2
	}
	m, err := interleave(ctx, min(s.rounds, 3), s.minRound,
		stateMap(in, cores, batches), all[0].subject(ctx, cores, batches), all[1].subject(ctx, cores, batches))
	if err != nil {
		return err
	}
	r.records = in.perBatch()
	for i, x := range all {
		r.variant = fmt.Sprintf("%s, curve, %g %% touched", x.name, 100/float64(one))
		row := compare(r, m[i+1], m[0], cpuOf, floor{})
		row.note = fmt.Sprintf("a batch %v", time.Duration(m[i+1].cost(cpuOf)).Round(time.Microsecond))
		s.table.add(row)
	}
	return nil
}
