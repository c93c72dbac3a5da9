package codec

// structColumn encodes structs field by field: all values of the first field, then all of the second.
type structColumn struct {
	fields []fieldColumn
	bits   int
}

type fieldColumn struct {
	column
	offset uintptr
}

func (c *structColumn) minBits() int { return c.bits }

func (c *structColumn) append(e *encoder, v view) error {
	for _, f := range c.fields {
		if err := f.append(e, v.field(f.offset)); err != nil {
			return err
		}
	}
	return nil
}

func (c *structColumn) decode(r *reader, v view) error {
	for _, f := range c.fields {
		if err := f.decode(r, v.field(f.offset)); err != nil {
			return err
		}
	}
	return nil
}

// arrayColumn encodes arrays whose elements are not numbers as a struct of as many fields: all the first elements, then all
// the second.
type arrayColumn struct {
	elem  column
	size  uintptr
	count int
}

func (c *arrayColumn) minBits() int { return c.count * c.elem.minBits() }

func (c *arrayColumn) append(e *encoder, v view) error {
	for j := range c.count {
		if err := c.elem.append(e, v.field(uintptr(j)*c.size)); err != nil {
			return err
		}
	}
	return nil
}

func (c *arrayColumn) decode(r *reader, v view) error {
	for j := range c.count {
		if err := c.elem.decode(r, v.field(uintptr(j)*c.size)); err != nil {
			return err
		}
	}
	return nil
}
