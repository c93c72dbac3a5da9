package blockcopies

// Status is how copies fare.
type Status struct {
	Promised uint64 // the newest epoch whose driver was answered; older ones are refused
	Epoch    uint64 // of the log that is open here, 0 if none is
	Err      error  // why it acknowledges nothing any more, nil while it does
	Waiting  int    // blocks that wait for copies before they are acknowledged
	Segments int    // files of all epochs
	Bytes    int64  // in them
	Drivers  []DriverStatus
}

// DriverStatus is how copies on another driver fare, as seen by the one that leads.
type DriverStatus struct {
	Member
	Connected bool
	Behind    int64 // bytes that it lacks, when it was connected last
	Err       error // of the last attempt; nil while connected
}

// Status returns how copies fare, at once. Drivers are listed where this one leads, in the order of Options.Members.
func (c *Copies) Status() Status {
	var s Status
	for _, h := range c.store.holdings() {
		s.Segments++
		for _, p := range h.parts {
			s.Bytes += p.To - p.From
		}
	}
	c.store.mu.Lock()
	s.Promised = c.store.promised
	c.store.mu.Unlock()
	c.mu.Lock()
	t := c.term
	c.mu.Unlock()
	if t == nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Epoch, s.Err, s.Waiting = t.epoch, t.err, t.waiting
	for _, d := range t.senders {
		s.Drivers = append(s.Drivers, DriverStatus{Member: d.Member, Connected: d.connected, Behind: d.behind, Err: d.err})
	}
	return s
}
