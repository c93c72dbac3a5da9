package peer

// StateMap is keyed state in a Go map: how often each key was touched.
type StateMap map[int64]int64

// NewStateMap returns the state of keys 0 to keys-1, none of them touched.
func NewStateMap(keys int) StateMap {
	m := make(StateMap, max(keys, 0))
	for k := range int64(keys) {
		m[k] = 0
	}
	return m
}

// Touch counts a batch of touches.
func (m StateMap) Touch(keys []int64) {
	for _, k := range keys {
		m[k]++
	}
}
