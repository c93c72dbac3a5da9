package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/tests/bench/workload"
)

// lostMaps is the length of the lineage of which something is lost, lostEvery how many of its maps lie
// between two shuffles.
const (
	lostMaps  = 64
	lostEvery = 8
)

// A loss is a lineage of which an executor's share is lost between two jobs, and how many tasks must
// do their work again.
type loss struct {
	name  string
	build func(words *rdd.RDD[uint64], counted func(*rdd.RDD[uint64]) *rdd.RDD[uint64]) *rdd.RDD[uint64]
	again int64
}

var losses = []loss{
	{"lost one of 4 kept partitions, 64 maps", func(words *rdd.RDD[uint64], counted func(*rdd.RDD[uint64]) *rdd.RDD[uint64]) *rdd.RDD[uint64] {
		return mapped(counted(words), lostMaps).Cache()
	}, 1},
	// One map task of each shuffle, and all of the result, which nobody keeps.
	{"lost one of 4 outputs of each shuffle, 64 maps, a shuffle every 8", func(words *rdd.RDD[uint64], counted func(*rdd.RDD[uint64]) *rdd.RDD[uint64]) *rdd.RDD[uint64] {
		for i := 0; i < lostMaps; i += lostEvery {
			if i > 0 {
				words = words.Repartition(workload.LineageParts)
			}
			words = mapped(counted(words), lostEvery)
		}
		return words
	}, lostMaps/lostEvery - 1 + workload.LineageParts},
}

// measureLost measures what is computed again when one of four executors is lost, on each of which
// lies a quarter of all.
func measureLost(ctx context.Context, s *suite, r row, in lineageInput) (err error) {
	cluster := local.Options{Executors: workload.LineageParts, Slots: 1}
	e, err := newEngineOn(cluster, scheduler.Options{}, rdd.Options{Cores: s.most()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	for _, l := range losses {
		if err := l.measure(ctx, s, r, in, e); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

func (l loss) measure(ctx context.Context, s *suite, r row, in lineageInput, e *engine) error {
	var tasks atomic.Int64
	counted := func(words *rdd.RDD[uint64]) *rdd.RDD[uint64] {
		return rdd.MapPartitions(words, func(in iter.Seq[uint64]) iter.Seq[uint64] {
			tasks.Add(1)
			return in
		})
	}
	var whole, again []timing
	var got uint64
	work := func(ctx context.Context) error {
		last := l.build(rdd.FromBlocks(e.fresh(), cut(in.words)), counted)
		run := func(times *[]timing) (err error) {
			tasks.Store(0)
			wall, cpu := time.Now(), cpuTime()
			got, err = xorOf(ctx, last)
			*times = append(*times, timing{cpu: cpuTime() - cpu, wall: time.Since(wall)})
			return err
		}
		if err := run(&whole); err != nil {
			return err
		}
		e.cluster.Kill(e.cluster.Executors()[0])
		e.cluster.Add()
		return run(&again)
	}
	check := func() error {
		if want := in.want(lostMaps); got != want {
			return fmt.Errorf("got %x, want %x", got, want)
		}
		if n := tasks.Load(); n != l.again {
			return fmt.Errorf("%d tasks ran again, want %d", n, l.again)
		}
		return nil
	}
	if _, err := interleave(ctx, s.rounds, s.minRound/4, subject{name: l.name, procs: s.most(), work: work, check: check}); err != nil {
		return err
	}
	r.variant = l.name
	row := compare(r, measured{subject: subject{procs: s.most()}, rounds: again}, measured{subject: subject{name: "all of it"}, rounds: whole}, cpuOf, floor{})
	row.rounds, row.note = s.rounds, fmt.Sprintf("%d tasks ran again", l.again)
	s.table.add(row)
	return nil
}
