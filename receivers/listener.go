package receivers

// Listener is told what happens to a receiver. Each function is optional, must not block, and is called from the
// goroutine in which the event happens.
type Listener struct {
	// Started is called before each call of Receive. Attempts count from 1.
	Started func(stream int32, attempt int)

	// Error is called for an error that did not end the receiver: one that it reported, or a block that could not be
	// stored and will be tried again. It may be called from several goroutines at the same time.
	Error func(stream int32, err error)

	// Stopped is called after each call of Receive, with what it returned; with nil when it ended because ctx ended.
	Stopped func(stream int32, attempt int, err error)
}

func (l Listener) started(stream int32, attempt int) {
	if l.Started != nil {
		l.Started(stream, attempt)
	}
}

func (l Listener) error(stream int32, err error) {
	if l.Error != nil {
		l.Error(stream, err)
	}
}

func (l Listener) stopped(stream int32, attempt int, err error) {
	if l.Stopped != nil {
		l.Stopped(stream, attempt, err)
	}
}

// BlockListener is told what happens to the blocks of a generator. Each function is optional and must not block.
type BlockListener struct {
	// Cut is called when a block is finished, while no record can be added, so that a receiver can tie its position in
	// the source to the block. It must not call the generator.
	Cut func(id BlockID, records int)

	// Stored is called after the block store has taken the block.
	Stored func(id BlockID, records int)

	// Failed is called after each failure to store a block.
	Failed func(id BlockID, err error)
}

func (l BlockListener) cut(id BlockID, records int) {
	if l.Cut != nil {
		l.Cut(id, records)
	}
}

func (l BlockListener) stored(id BlockID, records int) {
	if l.Stored != nil {
		l.Stored(id, records)
	}
}

func (l BlockListener) failed(id BlockID, err error) {
	if l.Failed != nil {
		l.Failed(id, err)
	}
}
