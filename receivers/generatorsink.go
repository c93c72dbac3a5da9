package receivers

// GeneratorSink is the further power of a [Sink] to make block generators, for a receiver that must know which block its
// records are in: it calls [Generator.StoreThen] and sets a [BlockListener]. The sink of a supervisor has it; a receiver
// finds it by assertion.
type GeneratorSink[T any] interface {
	// NewGenerator returns a block generator for the stream. The receiver starts it, and stops it before Receive returns;
	// what it has left running then is stopped for it, and flushed. Of opts the clock, rates and LastID are the supervisor's: a
	// rate set for the receiver holds for each of its generators.
	//
	// Errors: a joined [*OptionError] for each option that cannot be used; [ErrSinkClosed].
	NewGenerator(opts GeneratorOptions) (*Generator[T], error)
}

// NewGenerator returns a further block generator of the stream.
func (s *attemptSink[T]) NewGenerator(opts GeneratorOptions) (*Generator[T], error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	own := s.sup.opts.Generator
	opts.Clock, opts.MaxRate = own.Clock, own.MaxRate
	if opts.Logger == nil {
		opts.Logger = own.Logger
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return nil, ErrSinkClosed
	}
	opts.InitialRate = s.sup.Rate() // under mu: a rate that is set now finds the generator in made
	gen := newGenerator(s.sup.stream, s.sup.blocks, opts, s.sup.ids)
	s.made = append(s.made, gen)
	return gen, nil
}
