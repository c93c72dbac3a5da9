package streamingcontext

// ActiveOrCreate returns the context that runs on the engine or, where none does, what create returns. A context that
// is not started yet, or has stopped, does not count. Nothing keeps two callers from creating one each: only one of them
// can be started.
//
// Errors: those of create.
func (e *Engine) ActiveOrCreate(create func() (*Context, error)) (*Context, error) {
	if c := e.Active(); c != nil {
		return c, nil
	}
	return create()
}
