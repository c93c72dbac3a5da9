package scheduler_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// The parts of scripts about time and places.
//
//	options wait=3000 levels=1 speculation=1 interval=MS threshold=MS exclusion=1 timeout=MS replace=1 racks=1
//	gone NODE PART EXECUTOR...       executors report that they lost a persisted partition
//	sizes STAGE.ATTEMPT PART BYTES... a map task succeeds and has written buckets of such sizes
//
// With racks the rack of a host is its first letter.
func (s *script) doPlaces(f []string) bool {
	switch f[0] {
	case "advance":
		s.loop.Advance(time.Duration(s.number(f[1])) * time.Millisecond)
	case "gone":
		for _, id := range f[3:] {
			s.loop.BlocksLost(scheduler.ExecutorID(id), []scheduler.BlockID{{Node: s.nodes[f[1]].ID(), Part: s.number(f[2])}})
		}
	case "sizes":
		var sizes []int64
		for _, n := range f[3:] {
			sizes = append(sizes, int64(s.number(n)))
		}
		for _, task := range s.tasks(f[1], f[2:3], "") {
			end := schedulertest.Success(task, nil)
			end.Status.Sizes = scheduler.SizesOf(sizes)
			s.end(end)
		}
	default:
		return false
	}
	return true
}

func (s *script) placeOption(o *scheduler.Options, k, v string) bool {
	ms := time.Duration(s.number(v)) * time.Millisecond
	switch k {
	case "wait":
		o.LocalityWait = ms
	case "levels":
		s.levels = true
	case "racks":
		o.Rack = func(host string) string { return host[:1] }
	case "speculation":
		o.Speculation.Enabled, o.Speculation.AnyRate = true, true
	case "interval":
		o.Speculation.Interval = ms
	case "threshold":
		o.Speculation.Threshold = ms
	case "exclusion":
		o.Exclusion.Enabled = true
	case "unread":
		o.Exclusion.FetchFailures = true
	case "timeout":
		o.Exclusion.Timeout = ms
	case "replace":
		s.replaces = true
	default:
		return false
	}
	return true
}

// places reads "a,b", and "-" for none.
func places(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}

func (s *script) shownLevel(e scheduler.TaskStarted) string {
	text := ""
	if s.levels {
		text = " " + e.Locality.String()
	}
	if e.Speculative {
		text += ", a copy"
	}
	return text
}

func (s *script) listenPlaces(li *scheduler.Listener) {
	say := func(format string, args ...any) { fmt.Fprintf(&s.said, format+"\n", args...) }
	who := func(e scheduler.Excluded) string {
		text := "host " + e.Host
		if e.Executor != "" {
			text = "executor " + string(e.Executor)
		}
		if e.Stage >= 0 {
			text += fmt.Sprintf(" from stage %d.%d", e.Stage, e.StageAttempt)
		}
		return text
	}
	li.TaskCopied = func(e scheduler.TaskStarted) { say("  slow %s on %s", name(e), e.Executor) }
	li.ExecutorExcluded = func(e scheduler.Excluded) { say("excluded %s", who(e)) }
	li.ExecutorReadmitted = func(e scheduler.Excluded) { say("readmitted %s", who(e)) }
	li.Unschedulable = func(e scheduler.Unschedulable) {
		say("stage %d.%d can run nowhere, waiting: %t, over: %t", e.Stage, e.Attempt, e.Waiting, e.Over)
	}
}

func (s *script) scripted() scheduler.Backend {
	if s.replaces {
		return replacer{s.backend, s}
	}
	return s.backend
}

// A replacer is a scripted backend that can replace executors.
type replacer struct {
	*schedulertest.Scripted
	script *script
}

func (r replacer) Replace(id scheduler.ExecutorID) {
	fmt.Fprintf(&r.script.said, "  replace executor %s\n", id)
}
