package workload

// PairValues is the number of values a pair can have: they are 0 to PairValues-1.
const PairValues = 1000

// lateMillis is how far a late pair is moved back at most, not included.
const lateMillis = 5000

// A Pair is an integer key and a value.
type Pair struct{ Key, Value int64 }

// PairsOptions say how keys are spread. The zero value is 10,000 keys, evenly spread.
type PairsOptions struct {
	// Keys is the number of keys, which are 0 to Keys-1; the workload is defined for 100, 10,000
	// and 1,000,000. 0 means 10,000.
	Keys int
	// Zipf makes key k 1/(k+1) times as frequent as key 0.
	Zipf bool
	// Steep, with Zipf, makes it 1/(k+1)^2 times as frequent.
	Steep bool
	// Hot gives every second pair, drawn by chance, key 0.
	Hot bool
}

// Validate returns a *ZipfError if there are fewer than 0 keys or more than MaxItems.
func (o PairsOptions) Validate() error {
	if o.Keys < 0 || o.Keys > MaxItems {
		return &ZipfError{Items: o.Keys, Exponent: o.exponent()}
	}
	return nil
}

func (o PairsOptions) keys() int {
	if o.Keys == 0 {
		return 10_000
	}
	return o.Keys
}

func (o PairsOptions) exponent() int {
	switch {
	case o.Zipf && o.Steep:
		return 2
	case o.Zipf:
		return 1
	}
	return 0
}

// Pairs is the input of keyed windows (W2): integer keys with a value each.
type Pairs struct {
	stream Stream
	ranks  *Zipf
	hot    bool
}

// NewPairs returns the pairs of seed.
//
// Errors: what o.Validate reports.
func NewPairs(seed uint64, o PairsOptions) (*Pairs, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	ranks, err := NewZipf(o.keys(), o.exponent())
	if err != nil {
		return nil, err
	}
	return &Pairs{stream: NewStream(seed, StreamPairs), ranks: ranks, hot: o.Hot}, nil
}

// Keys returns the number of keys a pair can have.
func (p *Pairs) Keys() int { return int(p.ranks.items) }

// At returns pair i.
func (p *Pairs) At(i int) Pair {
	pair := Pair{Value: int64(Below(p.stream.U(uint64(i), 1), PairValues))}
	if !p.hot || Below(p.stream.U(uint64(i), 16), 2) != 0 {
		pair.Key = int64(p.ranks.Rank(p.stream.U(uint64(i), 0)))
	}
	return pair
}

// Append returns dst with pairs from to to-1 added.
//
// Errors: *RangeError unless 0 <= from <= to.
func (p *Pairs) Append(dst []Pair, from, to int) ([]Pair, error) {
	if err := checkRange(from, to); err != nil {
		return dst, err
	}
	for i := from; i < to; i++ {
		dst = append(dst, p.At(i))
	}
	return dst, nil
}

// LateTime returns the time of pair i in the variant with late data: one pair in fifty is up to
// five seconds earlier than its EventTime. The pair still arrives in the batch of its index.
func (p *Pairs) LateTime(i int) Time {
	t := EventTime(i, PairsPerSecond)
	if Below(p.stream.U(uint64(i), 2), 50) == 0 {
		t -= Time(Below(p.stream.U(uint64(i), 3), lateMillis))
	}
	return t
}

// AppendPairKey returns dst with key as text added: a k and eight decimal digits.
//
// Shape: 0 <= key < 10^8.
func AppendPairKey(dst []byte, key int64) []byte {
	dst = append(dst, "k00000000"...)
	for at := len(dst) - 1; key > 0 && dst[at] != 'k'; at-- {
		dst[at] = '0' + byte(key%10)
		key /= 10
	}
	return dst
}
