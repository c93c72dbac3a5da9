package file

// reach is how far back a selector looks after the program has come back. Nothing that would be seen again is forgotten
// meanwhile.
type reach struct {
	last  int64 // the newest batch of the program before
	first int64 // the first batch since, 0 if there was none
	from  int64 // the modification time of the oldest file that waited, 0 if none did
}

// resume says that the program has come back after the batches that are known now, when files of a modification time waited; 0
// if none did.
func (s *Selector) resume(waited int64) { s.back = &reach{last: s.last, from: waited} }

// Away says that there were no batches for a while, though the program was there: the next one looks back as far as the one that
// was left out would have.
func (s *Selector) Away() {
	if s.back == nil {
		s.resume(0)
	}
}

// oldest returns the modification time that files of batch t must be above: the remember duration back from t, or, after
// the program has come back, from the batch that would have been next.
func (s *Selector) oldest(t int64) int64 {
	if s.back == nil {
		return t - s.remember
	}
	from := min(t, s.back.last+s.interval) - s.remember
	if s.back.from != 0 {
		from = min(from, s.back.from-1)
	}
	return from
}

// arrive ends the reach when a batch has seen all directories. One that cannot be listed has the remember duration to
// come back.
func (s *Selector) arrive(t int64, complete bool) {
	b := s.back
	if b == nil || t <= b.last {
		return
	}
	if b.first == 0 {
		b.first = t
	}
	if complete || t-b.first >= s.remember {
		s.back = nil
	}
}
