package lineage

// Determinism says what computing a node again may change.
type Determinism uint8

const (
	// Determinate: the same rows in the same order.
	Determinate Determinism = iota
	// Unordered: the same rows, in any order.
	Unordered
	// Indeterminate: perhaps other rows.
	Indeterminate
)

// String returns the class in capitals.
func (d Determinism) String() string {
	switch d {
	case Determinate:
		return "DETERMINATE"
	case Unordered:
		return "UNORDERED"
	}
	return "INDETERMINATE"
}

// Classed is implemented by nodes that know their determinism. Others are determinate.
type Classed interface{ Determinism() Determinism }

// Placed is implemented by nodes whose partitions are better computed in some places.
type Placed interface {
	// Preferred returns names of hosts or executors, best first, nil for no preference. It is called often
	// and must be quick.
	Preferred(part int) []string
}
