package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// A record is what the receiver stores: a number and some ballast.
type record struct {
	id   int64
	body [11]int64
}

const recordBytes = 96

func newRecord(id int64) record {
	r := record{id: id}
	for i := range r.body {
		r.body[i] = id + int64(i)
	}
	return r
}

// done is what a job makes of its records: how many, the sum of their numbers, and the fruit of its arithmetic.
type done struct{ records, ids, fruit int64 }

func (d done) add(o done) done {
	return done{d.records + o.records, d.ids + o.ids, d.fruit ^ o.fruit}
}

// A plant is what the job does with each record.
type plant struct {
	work  int           // steps of arithmetic
	wait  time.Duration // for a device
	asked atomic.Int64  // records that the device was asked about
}

// deviceBlock is how many records the device takes at once.
const deviceBlock = 500

func (p *plant) job(ctx context.Context, r *rdd.RDD[record]) (done, error) {
	return rdd.Aggregate(ctx, r, done{}, func(d done, r record) done {
		h := uint64(r.body[0])
		for range p.work {
			h = (h ^ h>>31) * 0x9E3779B97F4A7C15
		}
		if p.wait > 0 && p.asked.Add(1)%deviceBlock == 0 {
			<-time.After(deviceBlock * p.wait)
		}
		return d.add(done{1, r.id, int64(h)})
	}, done.add)
}

// calibrate returns how many records a second the job takes: the middle of five runs over a batch of five blocks.
func calibrate(ctx context.Context, o options) (float64, error) {
	engine, err := streamingcontext.NewEngine(o.streaming().EngineOptions)
	if err != nil {
		return 0, err
	}
	defer engine.Close()
	blocks := make([][]record, 5)
	n := deviceBlock
	var speeds []float64
	for len(speeds) < 5 {
		for i := range blocks {
			blocks[i] = make([]record, n)
		}
		began := time.Now()
		d, err := o.plant.job(ctx, rdd.FromBlocks(engine.RDDs(), blocks))
		if err != nil {
			return 0, err
		}
		took := time.Since(began)
		if d.records != int64(5*n) {
			return 0, fmt.Errorf("the job counts %d records of %d", d.records, 5*n)
		}
		if took < min(200*time.Millisecond, o.interval/2) { // too short to go by
			n *= 2
			continue
		}
		speeds = append(speeds, float64(d.records)/took.Seconds())
	}
	slices.SortFunc(speeds, cmp.Compare[float64])
	return speeds[2], nil
}
