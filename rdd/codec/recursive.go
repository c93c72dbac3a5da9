package codec

import "fmt"

// maxDepth bounds how deep a value of a recursive type may be. It ends a cycle on the way out, and on the way in it keeps a
// made-up frame from using up the stack.
const maxDepth = 10_000

// recursiveColumn stands for a type inside itself.
type recursiveColumn struct {
	target column
	bits   int
}

func (c *recursiveColumn) minBits() int { return c.bits }

func (c *recursiveColumn) append(e *encoder, v view) error {
	if e.depth == maxDepth {
		return fmt.Errorf("a value nested deeper than %d levels, or a cycle", maxDepth)
	}
	e.depth++
	defer func() { e.depth-- }()
	return c.target.append(e, v)
}

func (c *recursiveColumn) decode(r *reader, v view) error {
	if r.depth == maxDepth {
		return r.corrupt(fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	r.depth++
	defer func() { r.depth-- }()
	return c.target.decode(r, v)
}
