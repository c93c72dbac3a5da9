package streamingcontext

// AddListener makes the context tell l, too, of what happens from now on: before Start of everything, later on of
// the batches that are submitted then. l is known by its address, and copied: changing it later has no effect.
// Adding one again does nothing.
func (c *Context) AddListener(l *Listener) { c.bus.add(l) }

// RemoveListener makes the context forget a listener that AddListener was given. A call of it may be under way,
// and what has happened by now still reaches it.
func (c *Context) RemoveListener(l *Listener) { c.bus.remove(l) }

// App returns the name of the application.
func (c *Context) App() string { return c.opts.App }

// Clock returns the clock that says when a batch is due.
func (c *Context) Clock() Clock { return c.opts.Clock }
