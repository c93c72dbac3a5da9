package driverlog

import "slices"

// recent remembers the answers to the last requests, in a ring.
//
// The ids are searched from end to end: 256 of them are 4 KiB in one piece, which costs less
// than a map that must be copied with every snapshot.
type recent struct {
	ids     []RequestID
	answers []answer
	oldest  int // position of the oldest entry once the ring is full
}

// An answer is what was decided under a request id, and what it was about.
type answer struct {
	kind   Kind
	app    string
	batch  int64
	result Result
}

// find returns the answer kept for id, if any.
func (r *recent) find(id RequestID) (answer, bool) {
	for i := range r.ids {
		if r.ids[i] == id {
			return r.answers[i], true
		}
	}
	return answer{}, false
}

// add keeps a in place of the oldest answer. The zero id is not kept.
func (r *recent) add(id RequestID, a answer) {
	switch {
	case id == RequestID{}:
	case len(r.ids) < Remembered:
		r.ids = append(r.ids, id)
		r.answers = append(r.answers, a)
	default:
		r.ids[r.oldest] = id
		r.answers[r.oldest] = a
		r.oldest = (r.oldest + 1) % Remembered
	}
}

// at returns the entry number i, counted from the oldest.
func (r *recent) at(i int) (RequestID, answer) {
	i = (r.oldest + i) % len(r.ids)
	return r.ids[i], r.answers[i]
}

func (r *recent) clone() recent {
	return recent{ids: slices.Clone(r.ids), answers: slices.Clone(r.answers), oldest: r.oldest}
}
