package workload

// Touches is the input of keyed state (W3): which keys each batch touches. Touched keys are counted.
type Touches struct {
	stream   Stream
	keys     int
	perBatch int
}

// NewTouches returns the touches of seed: perBatch of them in each batch, of keys 0 to keys-1.
//
// Errors: a *RangeError unless there are keys and perBatch is not negative.
func NewTouches(seed uint64, keys, perBatch int) (Touches, error) {
	if keys < 1 || perBatch < 0 {
		return Touches{}, &RangeError{From: perBatch, To: keys}
	}
	return Touches{stream: NewStream(seed, StreamTouches), keys: keys, perBatch: perBatch}, nil
}

// Append returns dst with the keys that batch b touches appended, in their order; a key may be touched more than once.
func (t Touches) Append(dst []int64, b int) []int64 {
	from := uint64(b) * uint64(t.perBatch)
	for r := range uint64(t.perBatch) {
		dst = append(dst, int64(Below(t.stream.U(from+r, 0), uint64(t.keys))))
	}
	return dst
}
