package workload

// LettersLen is the length of the letter pool.
const LettersLen = 1 << 20

// Letters is a pool of lower-case letters that arbitrary text is cut from.
type Letters struct{ pool string }

// NewLetters returns the letter pool of seed.
func NewLetters(seed uint64) *Letters {
	s := NewStream(seed, StreamLetters)
	pool := make([]byte, LettersLen)
	for k := range pool {
		pool[k] = letter(s.U(uint64(k), 0))
	}
	return &Letters{pool: string(pool)}
}

// Str returns the n letters that the word x points to.
//
// Shape: n outside 0 to LettersLen is brought to the nearer end.
func (l *Letters) Str(x uint64, n int) string {
	n = min(max(n, 0), LettersLen)
	o := int(Below(x, uint64(LettersLen-n)))
	return l.pool[o : o+n]
}

// letter returns one of a to z.
func letter(x uint64) byte { return 'a' + byte(Below(x, 26)) }
