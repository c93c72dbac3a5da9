package workload

// Lineage is the input of lineage and recomputation (W13): 64-bit words, and one step that every map
// of a chain does.
type Lineage struct{ stream Stream }

// How many words there are, and how many partitions they lie in.
const (
	LineageRecords = 100_000
	LineageParts   = 4
)

// The step is a linear congruential generator: x times stepFactor plus stepTerm.
const (
	stepFactor = 6364136223846793005
	stepTerm   = 1442695040888963407
)

// NewLineage returns the words of seed.
func NewLineage(seed uint64) Lineage { return Lineage{stream: NewStream(seed, StreamIntegers)} }

// V returns word i.
func (l Lineage) V(i int) uint64 { return l.stream.U(uint64(i), 0) }

// LineageStep is what each map does to a word.
func LineageStep(x uint64) uint64 { return stepFactor*x + stepTerm }

// Xor returns the XOR of the first n words after steps steps.
//
// Cost: that of one step a word, however many there are: steps of this kind make one of the same kind.
func (l Lineage) Xor(n, steps int) uint64 {
	factor, term := uint64(1), uint64(0)
	for range steps {
		factor, term = factor*stepFactor, term*stepFactor+stepTerm
	}
	var xor uint64
	for i := range n {
		xor ^= factor*l.V(i) + term
	}
	return xor
}

// LineageLengths returns the numbers of maps that lineages are built with.
func LineageLengths() []int { return []int{1, 4, 16, 64, 256, 1024} }

// LineageWant returns the XOR of all LineageRecords words of DefaultSeed after steps steps, or false if it
// is not part of the definition.
func LineageWant(steps int) (uint64, bool) {
	switch steps {
	case 1:
		return 0x4add60ac54cab0ff, true
	case 16:
		return 0x784bbc32938351f1, true
	case 256:
		return 0x804f4775d8e0add1, true
	}
	return 0, false
}
