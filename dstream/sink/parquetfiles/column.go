package parquetfiles

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A column is a node of a schema, with what it takes to put the values of its leaves together again.
type column struct {
	name     []byte // as a member of an object, with its colon
	repeated bool
	optional bool
	rep, def int // levels: of a value that is there def is at least this one
	first    int // leaf, among those of the parent
	leaves   int
	fields   []*column
	shape    shape
	leaf     func(buf []byte, v parquet.Value) []byte
}

// A shape is how a group is shown.
type shape uint8

const (
	object  shape = iota
	inner         // as its only field: the list of a list, and the element in it
	entries       // a repeated group of keys of text and values, as one object
)

// columnsOf returns the root of a schema.
func columnsOf(schema *parquet.Schema) (*column, error) { return columnOf(schema, 0, 0, 0) }

func columnOf(n parquet.Node, rep, def, depth int) (*column, error) {
	c := &column{repeated: n.Repeated(), optional: n.Optional()}
	if c.repeated {
		rep++
	}
	if c.repeated || c.optional {
		def++
	}
	c.rep, c.def = rep, def
	if n.Leaf() {
		c.leaves, c.leaf = 1, leafOf(n.Type())
		return c, nil
	}
	if depth > maxDepth {
		return nil, errShape
	}
	for _, f := range n.Fields() {
		field, err := columnOf(f, rep, def, depth+1)
		if err != nil {
			return nil, err
		}
		field.name = append(appendString(nil, []byte(f.Name())), ':')
		field.first = c.leaves
		c.leaves += field.leaves
		c.fields = append(c.fields, field)
	}
	t := n.Type().LogicalType()
	if t == nil || len(c.fields) != 1 || !c.fields[0].repeated {
		return c, nil
	}
	inside := c.fields[0]
	switch t.Value.(type) {
	case *format.ListType:
		c.shape = inner
		if len(inside.fields) == 1 {
			inside.shape = inner
		}
	case *format.MapType:
		if len(inside.fields) == 2 {
			c.shape = inner
			if key := n.Fields()[0].Fields()[0]; key.Leaf() && key.Required() && text(key.Type()) {
				inside.shape = entries
			}
		}
	}
	return c, nil
}

// append appends what the column holds in one instance of its parent, whose values are given leaf by leaf.
func (c *column) append(buf []byte, values [][]parquet.Value) []byte {
	there := values[0][0].DefinitionLevel() >= c.def
	if !c.repeated {
		if !there {
			return append(buf, "null"...)
		}
		return c.one(buf, values)
	}
	open, end := byte('['), byte(']')
	if c.shape == entries {
		open, end = '{', '}'
	}
	buf = append(buf, open)
	if there {
		rest := append([][]parquet.Value(nil), values...)
		element := make([][]parquet.Value, len(values))
		for i := 0; len(rest[0]) > 0; i++ {
			if i > 0 {
				buf = append(buf, ',')
			}
			for j, v := range rest {
				n := 1
				for n < len(v) && v[n].RepetitionLevel() > c.rep {
					n++
				}
				element[j], rest[j] = v[:n], v[n:]
			}
			buf = c.one(buf, element)
		}
	}
	return append(buf, end)
}

// one appends one value.
func (c *column) one(buf []byte, values [][]parquet.Value) []byte {
	if c.leaf != nil {
		return c.leaf(buf, values[0][0])
	}
	switch c.shape {
	case inner:
		return c.fields[0].append(buf, values)
	case entries:
		key, value := c.fields[0], c.fields[1]
		buf = append(key.append(buf, values[:key.leaves]), ':')
		return value.append(buf, values[value.first:])
	}
	buf = append(buf, '{')
	for i, f := range c.fields {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, f.name...)
		buf = f.append(buf, values[f.first:f.first+f.leaves])
	}
	return append(buf, '}')
}
