package crashtest

import (
	"fmt"
	"strings"
)

// A Report is what Run has found.
type Report struct {
	Cases     int
	Processes int
	// Unreached is how many cases did not come to their fault, since points come in another order, or other ones, after a death.
	Unreached int
	Points    []Point  // by name
	Missed    []string // points that no fault has hit, or that must be there and were never met
	Broken    []Broken // promises, each once
	Effects   []Repeat // by name
}

// A Point is an operation on the world.
type Point struct {
	Name   string
	Times  int                  // in the undisturbed run
	Depths [len(depths)]int     // faults that hit it: in the first run, in recovery, in recovery of recovery
	Faults [len(faults) + 1]int // the same by Fault
}

// hits returns how many faults hit the point.
func (p Point) hits() (n int) {
	for _, k := range p.Depths {
		n += k
	}
	return n
}

// A Broken is a promise that broke, and the shortest history that did it.
type Broken struct {
	Promise Promise
	Cases   int      // that broke it
	Point   string   // where the fault was
	What    []string // what was wrong
	History []string // processes, and what they did
}

// String returns promise, point and history, in several lines.
func (b Broken) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: broken in %d cases, first by: %s\n", b.Promise, b.Cases, b.Point)
	for i, what := range b.What {
		if i == 5 {
			fmt.Fprintf(&s, "  and %d more\n", len(b.What)-i)
			break
		}
		fmt.Fprintf(&s, "  %s\n", what)
	}
	for _, line := range b.History {
		fmt.Fprintf(&s, "    %s\n", line)
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// A Repeat says how often effects happened that cannot be undone. They are promised to happen at least once.
type Repeat struct {
	Name   string
	Cases  int // in which one happened more often than in the undisturbed run
	AtMost int // the most often that one happened for a batch
}

// String returns a table of the points, and what broke.
func (r Report) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d cases, %d processes, %d points, %d promises broken; %d cases did not come to their fault\n", r.Cases, r.Processes, len(r.Points), len(r.Broken), r.Unreached)
	fmt.Fprintf(&s, "%6s %9s %9s %9s %8s %8s %8s %8s  %s\n", "times", "first", "recovery", "again", "before", "after", "fails", "seems", "point")
	for _, p := range r.Points {
		fmt.Fprintf(&s, "%6d %9d %9d %9d %8d %8d %8d %8d  %s\n", p.Times, p.Depths[0], p.Depths[1], p.Depths[2],
			p.Faults[DiesBefore], p.Faults[DiesAfter], p.Faults[Fails], p.Faults[SeemsToFail], p.Name)
	}
	for _, e := range r.Effects {
		fmt.Fprintf(&s, "effects %s: at least once; again in %d cases, at most %d times for a batch\n", e.Name, e.Cases, e.AtMost)
	}
	for _, b := range r.Broken {
		fmt.Fprintln(&s, b.String())
	}
	for _, point := range r.Missed {
		fmt.Fprintf(&s, "not hit: %s\n", point)
	}
	return s.String()
}

// history returns what the processes of a case did: of each the last operations before its end.
func history(lives []*process, ends []error) (lines []string) {
	const most = 8
	for i, p := range lives {
		p.mu.Lock()
		ops := p.ops
		end := "ends well"
		if i < len(ends) && ends[i] != nil {
			end = "ends: " + ends[i].Error()
		}
		var texts []string
		from := 0
		for k, op := range ops {
			if op.fault != None {
				from = max(0, k-most)
			}
		}
		until := min(len(ops), from+most+4)
		if from > 0 {
			texts = append(texts, fmt.Sprintf("(%d operations)", from))
		}
		for _, op := range ops[from:until] {
			texts = append(texts, op.String())
		}
		if until < len(ops) {
			texts = append(texts, fmt.Sprintf("(%d operations)", len(ops)-until))
		}
		p.mu.Unlock()
		lines = append(lines, fmt.Sprintf("process %d: %s; %s", p.n, strings.Join(texts, " > "), end))
	}
	return lines
}
