package crashtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// An explorer runs the cases of a program.
type explorer struct {
	p      Program
	want   result
	rng    *rand.Rand
	report Report
	points map[string]*Point
	broken map[Promise]*found
	again  map[string]*Repeat
}

// found is a promise that broke in a case, and how long the case is.
type found struct {
	Broken
	shots, ops int
}

// A case that was run.
type ran struct {
	w     *World
	lives []*process
	ends  []error
	got   result
}

func (e *explorer) run(ctx context.Context) (Report, error) {
	e.rng = rand.New(rand.NewPCG(e.p.Seed, 0))
	e.points, e.broken, e.again = map[string]*Point{}, map[Promise]*found{}, map[string]*Repeat{}
	want, err := e.undisturbed(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("crash test: undisturbed run: %w", err)
	}
	// Without a fault, but stopped and started once more.
	plain, err := e.try(ctx, trial{loss: disk.All})
	if err != nil {
		return Report{}, err
	}
	ops := plain.lives[0].ops
	for _, op := range ops {
		e.point(op.point).Times++
	}
	cases, others, err := e.cases(ctx, ops)
	if err != nil {
		return Report{}, err
	}
	for _, c := range cases {
		if _, err := e.try(ctx, c); err != nil {
			return Report{}, err
		}
	}
	tries := map[string]int{}
	for _, c := range others { // in place of those that did not come to their fault
		point := c.tried().point
		if e.point(point).hits() > 0 || tries[point] == maxOthers {
			continue
		}
		tries[point]++
		if _, err := e.try(ctx, c); err != nil {
			return Report{}, err
		}
	}
	return e.finish(want.w), nil
}

func (e *explorer) point(name string) *Point {
	if e.points[name] == nil {
		e.points[name] = &Point{Name: name}
	}
	return e.points[name]
}

// undisturbed runs all batches, with the one that follows, in one process.
func (e *explorer) undisturbed(ctx context.Context) (*ran, error) {
	w, remove, err := e.world()
	if err != nil {
		return nil, err
	}
	defer func() { _ = remove() }() // it is a folder of temporary files
	p := w.start(1, shot{})
	if _, err = p.live(ctx, 0, e.end()+e.p.Options.Interval.Milliseconds()); err != nil {
		return nil, err
	}
	if e.want, err = w.look(); err != nil {
		return nil, err
	}
	if len(w.breaches) > 0 {
		return nil, fmt.Errorf("%v: %s", w.breaches[0].promise, w.breaches[0].text)
	}
	return &ran{w: w, lives: []*process{p}}, nil
}

// end returns the time of the last batch before the one that follows.
func (e *explorer) end() int64 { return int64(e.p.Batches) * e.p.Options.Interval.Milliseconds() }

func (e *explorer) world() (*World, func() error, error) {
	dir, remove, err := e.p.folder()
	if err != nil {
		return nil, nil, err
	}
	w, err := newWorld(e.p, dir)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return w, remove, nil
}

// maxOthers is how many more cases are tried to hit a point that no fault has hit.
const maxOthers = 8

// maxClean is how many processes without a fault may end before the batches are done.
const maxClean = 2

// lives runs the processes of a case until the batches are done.
func (e *explorer) lives(ctx context.Context, c trial) (r *ran, err error) {
	w, remove, err := e.world()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	r = &ran{w: w}
	now, clean := int64(0), 0
	until := e.end()
	for done := false; ; {
		var s shot
		if n := len(r.lives); n < len(c.shots) && !done {
			s = c.shots[n]
		}
		p := w.start(len(r.lives)+1, s)
		r.lives = append(r.lives, p)
		at, ended := p.live(ctx, now, until)
		r.ends = append(r.ends, ended)
		now = max(now, at)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if ended == nil && done {
			break
		}
		if ended == nil { // once more, for what follows
			done, until = true, until+e.p.Options.Interval.Milliseconds()
		} else if !p.fired || errors.Is(ended, errHangs) {
			w.breach(GoesOn, "process %d ends, and no fault has hit it: %v", p.n, ended)
			if clean++; clean == maxClean || errors.Is(ended, errHangs) {
				return r, nil
			}
		}
		if err := w.cut(c.loss, c.seed+uint64(len(r.lives))); err != nil {
			return r, err
		}
	}
	if r.got, err = w.look(); err != nil {
		w.breach(GoesOn, "%v", err)
		return r, nil
	}
	w.compare(r.got, e.want, e.end())
	return r, nil
}

// try runs a case and adds what it found to the report.
func (e *explorer) try(ctx context.Context, c trial) (*ran, error) {
	r, err := e.lives(ctx, c)
	if err != nil {
		return nil, err
	}
	e.report.Cases++
	e.report.Processes += len(r.lives)
	ops := 0
	for _, p := range r.lives {
		ops += len(p.ops)
	}
	where := "no fault at all, only a stop and a start"
	if depth := len(c.shots) - 1; depth >= 0 {
		tried := c.tried()
		where = fmt.Sprintf("%v, in %s, %v", tried, depths[depth], c.loss)
		if len(r.lives) > depth && r.lives[depth].fired {
			at := e.point(tried.point)
			at.Depths[depth]++
			at.Faults[tried.fault]++
		} else {
			e.report.Unreached++
		}
	}
	seen := map[Promise]bool{}
	for _, b := range r.w.breaches {
		f := e.broken[b.promise]
		if f == nil {
			f = &found{shots: len(depths) + 1}
			e.broken[b.promise] = f
		}
		if !seen[b.promise] {
			seen[b.promise] = true
			f.Cases++
			if len(c.shots) < f.shots || len(c.shots) == f.shots && ops < f.ops {
				f.shots, f.ops, f.What, f.Promise, f.Point = len(c.shots), ops, nil, b.promise, where
				f.History = history(r.lives, r.ends)
				f.take(r.w.breaches)
			}
		}
	}
	e.repeats(r)
	return r, nil
}

// take takes the breaches of the promise.
func (f *found) take(all []breach) {
	for _, b := range all {
		if b.promise == f.Promise && !slices.Contains(f.What, b.text) {
			f.What = append(f.What, b.text)
		}
	}
}

// repeats counts effects that happened again.
func (e *explorer) repeats(r *ran) {
	for _, name := range slices.Sorted(maps.Keys(e.want.effects)) {
		if e.again[name] == nil {
			e.again[name] = &Repeat{Name: name}
		}
		more := false
		for t, n := range r.got.effects[name] {
			e.again[name].AtMost = max(e.again[name].AtMost, n)
			more = more || n > e.want.effects[name][t]
		}
		if more {
			e.again[name].Cases++
		}
	}
}

// finish returns the report.
func (e *explorer) finish(w *World) Report {
	r := e.report
	for _, name := range slices.Sorted(maps.Keys(e.points)) {
		p := *e.points[name]
		r.Points = append(r.Points, p)
		if p.hits() == 0 {
			r.Missed = append(r.Missed, name)
		}
	}
	for _, name := range w.expected {
		if e.points[name] == nil {
			r.Missed = append(r.Missed, name)
		}
	}
	slices.Sort(r.Missed)
	for _, p := range slices.Sorted(maps.Keys(e.broken)) {
		r.Broken = append(r.Broken, e.broken[p].Broken)
	}
	for _, name := range slices.Sorted(maps.Keys(e.again)) {
		r.Effects = append(r.Effects, *e.again[name])
	}
	return r
}
