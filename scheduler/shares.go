package scheduler

import (
	"math"

	"github.com/leat-io/leat/lineage"
)

const (
	// A host is worth being preferred by a reducer if it holds this part of its bytes.
	shareWorthIt = 0.2
	// With more maps or reducers than these, finding out costs more than it saves.
	shareMaxMaps, shareMaxReducers = 1000, 1000
)

// sizeOf has the count for each byte of Sizes.
var sizeOf = func() (counts [256]float64) {
	for i := 1; i < len(counts); i++ {
		counts[i] = math.Pow(1.1, float64(i))
	}
	return counts
}()

// shares returns the hosts that hold at least a fifth of what a reducer reads, by shuffle and reducer; nothing
// for shuffles of which every host holds as much: there, any place is as good.
func (l *loop) shares(reads []*lineage.Shuffle) (found map[lineage.ShuffleID][][]place) {
	hosts := map[ExecutorID]int{}
	var names []string
	for _, ex := range l.executors {
		if ex.Host == "" {
			continue
		}
		at := -1
		for i, name := range names {
			if name == ex.Host {
				at = i
			}
		}
		if at < 0 {
			at = len(names)
			names = append(names, ex.Host)
		}
		hosts[ex.ID] = at
	}
	if len(names) < 2 {
		return nil
	}
	for _, sh := range reads {
		o := l.registry.shuffle(sh.ID)
		if o == nil || len(o.maps) >= shareMaxMaps || sh.NumReducers >= shareMaxReducers {
			continue
		}
		if places := placesByReducer(o.maps, sh.NumReducers, hosts, names); places != nil {
			if found == nil {
				found = map[lineage.ShuffleID][][]place{}
			}
			found[sh.ID] = places
		}
	}
	return found
}

// placesByReducer returns the hosts that hold much of what each reducer reads, nil if no reducer prefers any
// over others.
func placesByReducer(maps []MapOutput, reducers int, hosts map[ExecutorID]int, names []string) [][]place {
	held := make([]float64, len(names)*reducers) // bytes by host, then reducer
	total := make([]float64, reducers)
	for _, out := range maps {
		host, known := hosts[out.Executor]
		var row []float64
		if known {
			row = held[host*reducers:][:reducers]
		}
		for r, size := range out.Sizes[:min(len(out.Sizes), reducers)] {
			total[r] += sizeOf[size]
			if known {
				row[r] += sizeOf[size]
			}
		}
	}
	var places [][]place
	for r := range reducers {
		much := func(host int) bool { return total[r] > 0 && held[host*reducers+r] >= shareWorthIt*total[r] }
		count := 0
		for host := range names {
			if much(host) {
				count++
			}
		}
		if count == 0 || count == len(names) {
			continue
		}
		if places == nil {
			places = make([][]place, reducers)
		}
		for host, name := range names {
			if much(host) {
				places[r] = append(places[r], place{host: name})
			}
		}
	}
	return places
}
