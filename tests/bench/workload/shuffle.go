package workload

// ShuffleKeys is the number of keys of the pairs that are shuffled with their keys as text (W6).
const ShuffleKeys = 100_000

// A TextPair is a Pair whose key is text.
type TextPair struct {
	Key   string
	Value int64
}

// AppendText returns dst with pairs from to to-1 added, keys as AppendPairKey writes them. All keys
// are cut from one text, as those of a file that was read are.
//
// Errors: *RangeError unless 0 <= from <= to.
func (p *Pairs) AppendText(dst []TextPair, from, to int) ([]TextPair, error) {
	if err := checkRange(from, to); err != nil {
		return dst, err
	}
	first := len(dst)
	var keys []byte
	for i := from; i < to; i++ {
		pair := p.At(i)
		keys = AppendPairKey(keys, pair.Key)
		dst = append(dst, TextPair{Value: pair.Value})
	}
	text := string(keys)
	const size = len("k00000000")
	for i := range dst[first:] {
		dst[first+i].Key = text[i*size : (i+1)*size]
	}
	return dst, nil
}

// MixPartition returns the partition, of n, of an integer key in a shuffle: Mix(key) modulo n.
//
// Shape: n above 0.
func MixPartition(key int64, n int) int { return int(Mix(uint64(key)) % uint64(n)) }

// ShuffleSizes is the number of partitions whose sizes ShuffleSizesWant knows.
const ShuffleSizes = 8

// ShuffleSizesWant returns how many of the first M pairs MixPartition sends to each of eight
// partitions, for 10,000 keys (0 means the same) without Steep and Hot; or false.
func ShuffleSizesWant(o PairsOptions) ([ShuffleSizes]int, bool) {
	switch {
	case o.keys() != 10_000 || o.Hot || o.Zipf && o.Steep:
		return [ShuffleSizes]int{}, false
	case o.Zipf:
		return [...]int{218_634, 108_248, 118_438, 85_392, 142_537, 153_787, 75_547, 97_417}, true
	}
	return [...]int{126_388, 124_869, 125_983, 129_159, 115_254, 130_774, 119_528, 128_045}, true
}
