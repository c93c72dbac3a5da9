package file

// reach is how far back a selector looks after the program has come back. Nothing that would be seen again is forgotten
// meanwhile.
type reach struct {
	last  int64 // the newest batch of the program before
	first int64 // the first batch since, 0 if there was none
}

// resume says that the program has come back after the batches that are known now.
func (s *Selector) resume() { s.back = &reach{last: s.last} }

// oldest returns the modification time that files of batch t must be above: the remember duration back from t, or, after
// the program has come back, from the batch that would have been next.
func (s *Selector) oldest(t int64) int64 {
	if s.back != nil {
		t = min(t, s.back.last+s.interval)
	}
	return t - s.remember
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
