// Package codec turns a slice of rows of one Go type into bytes and back, column by column, at the borders between processes.
//
// # Nouns
//
// A [Codec] is compiled once for a row type. A frame is the bytes of one slice of rows: self-contained, versioned and
// checksummed. A column is one field of all the rows of a frame, laid end to end. The name of an encoding says which columns a
// frame has; two codecs with the same name read each other's frames.
//
//	type Count struct {
//		Word string
//		N    int64
//	}
//
//	c, err := codec.For[Count]()
//	if err != nil {
//		return err // a *codec.TypeError that names the field
//	}
//	frame, err := c.Append(nil, []Count{{"to", 2}, {"be", 2}})
//	rows, err := c.Decode(frame)
//
// # Guarantees
//
// Exact: what Decode returns equals what Append was given, to the bit for floats (NaN payloads and minus zero included), with
// nil slices and maps kept apart from empty ones. A type that cannot promise this is refused by For.
//
// Canonical: the same rows give the same bytes, on every platform and in every process. Map entries are sorted by their
// encoded key. The one thing outside the promise is what a type's own MarshalBinary or EncodeMsgpack writes.
//
// Checked: a truncated or damaged frame, and a frame of another type, gives a *[CorruptError] and no rows. A frame made to
// harm cannot make Decode panic or allocate more than a fixed multiple of its length; the multiple depends on the row type
// (1 for integers, 16 for strings, 64 for pointers, which take one bit when nil).
//
// Not kept: identity. Two pointers to one value become pointers to two values, and a cycle is refused by Append.
//
// # Who may call what
//
// Compile a codec once and keep it: For walks the type by reflection and nothing is cached behind the caller's back. A Codec
// never changes after For, so all its methods, and a function returned by [CloneFunc], may be called from any number of
// goroutines at once.
//
// Decoded strings, byte slices, slices and pointers of one column share one allocation. Keeping a single row alive keeps the
// column alive; use strings.Clone or CloneFunc for a row that outlives its batch.
//
// # What is not here
//
// No compression, no schema evolution (a changed type has another name and its old frames are refused), no streaming of one
// frame in pieces, and no registry of types: an interface field holds builtin types only.
//
// # Sources
//
// The layout, field by field, is in docs/codec.md. The checksum is CRC-32C (Castagnoli, Bräuer, Herrmann, "Optimization of
// Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits", IEEE Transactions on Communications, 1993). Lengths are the
// base-128 varints of encoding/binary.
package codec
