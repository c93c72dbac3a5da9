package golden

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Report says what became of the cases of one kind. A case that is run in several ways counts once, by
// the worst that came of it.
type Report struct {
	cases map[string]outcome
	words map[string]string // of cases that are not built, the word that is missing
}

// An outcome is what came of a case, the worst last.
type outcome int

const (
	dev outcome = iota
	passed
	notBuilt
	failed
)

// Add notes what came of running a case.
func (r *Report) Add(id string, err error) {
	var missing *NotBuiltError
	switch {
	case errors.As(err, &missing):
		r.note(id, notBuilt)
		if r.words == nil {
			r.words = map[string]string{}
		}
		r.words[id] = missing.What + " " + missing.Name
	case err != nil:
		r.note(id, failed)
	default:
		r.note(id, passed)
	}
}

// AddDev notes a case that is not compared, because leat knowingly answers differently.
func (r *Report) AddDev(id string) { r.note(id, dev) }

func (r *Report) note(id string, o outcome) {
	if r.cases == nil {
		r.cases = map[string]outcome{}
	}
	r.cases[id] = max(r.cases[id], o)
}

// String returns the counts in one line, with the words that are not built and how many cases want them.
func (r *Report) String() string {
	var counts [failed + 1]int
	wanted := map[string]int{}
	for id, o := range r.cases {
		counts[o]++
		if o == notBuilt {
			wanted[r.words[id]]++
		}
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(wanted)) {
		words = append(words, fmt.Sprintf("%s %d", word, wanted[word]))
	}
	names := ""
	if words != nil {
		names = " (" + strings.Join(words, ", ") + ")"
	}
	return fmt.Sprintf("%d passed, %d failed, %d not built%s, %d dev", counts[passed], counts[failed], counts[notBuilt], names, counts[dev])
}
