package disk

// A Loss is what the end of a process leaves of what was not synced.
type Loss int

// The losses.
const (
	// Nothing: the process was killed, the machine goes on.
	Nothing Loss = iota
	// All: the power was cut and nothing is left of what was not synced.
	All
	// Half: the power was cut, and each change of a folder and each block of a file was written or not.
	Half
	// Torn: the power was cut while the last block of each file that was not synced was being written.
	Torn
)

// Losses are all of them, for loops.
var Losses = [...]Loss{Nothing, All, Half, Torn}

// String returns the loss in words.
func (l Loss) String() string {
	return [...]string{"nothing lost", "all unsynced lost", "half of unsynced lost", "last block torn"}[l&3]
}

// block is how much of a file is written or lost together.
const block = 512

// After returns the disk that the next start finds. The seed decides what Half and Torn leave. The new disk has no plan and room
// without end. After a power cut all it holds is durable; after Nothing what was not synced can still be lost.
func (d *Disk) After(loss Loss, seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := New()
	next.ids = d.ids
	copies := make(map[*node]*node)
	next.root = (&cut{loss, seed}).copy(d.root, copies)
	return next
}

// A cut is one power cut.
type cut struct {
	loss Loss
	seed uint64
}

// copy returns what is left of a node. Names that shared a file still do.
func (c *cut) copy(n *node, copies map[*node]*node) *node {
	if to := copies[n]; to != nil {
		return to
	}
	if !n.dir {
		data := c.left(n)
		to := &node{id: n.id, data: data, synced: len(data)}
		if c.loss == Nothing {
			to.synced = n.synced
		}
		copies[n] = to
		return to
	}
	to := newDir(n.id)
	copies[n] = to
	names := n.names
	if c.loss == All || c.loss == Half {
		names = make(map[string]*node)
		for _, name := range sorted(n.durable) {
			names[name] = n.durable[name]
		}
		for _, ch := range n.pending {
			if c.loss == Half && c.chance(ch.call, 0)%2 == 0 {
				put(names, ch.name, ch.to)
			}
		}
	}
	for _, name := range sorted(names) {
		to.names[name] = c.copy(names[name], copies)
	}
	if c.loss != Nothing {
		to.sync()
		return to
	}
	for _, name := range sorted(n.durable) {
		to.durable[name] = c.copy(n.durable[name], copies)
	}
	for _, ch := range n.pending {
		if ch.to != nil {
			ch.to = c.copy(ch.to, copies)
		}
		to.pending = append(to.pending, ch)
	}
	return to
}

// left returns what is left of the bytes of a file.
func (c *cut) left(n *node) []byte {
	lost := len(n.data) - n.synced
	switch {
	case c.loss == Nothing || lost == 0:
		return append([]byte(nil), n.data...)
	case c.loss == All:
		return append([]byte(nil), n.data[:n.synced]...)
	case c.loss == Torn:
		last := max(n.synced, (len(n.data)-1)/block*block) // where the last block begins
		return append([]byte(nil), n.data[:last+int(c.chance(n.id, 0)%uint64(len(n.data)-last))]...)
	}
	data := append([]byte(nil), n.data[:n.synced]...)
	for at := n.synced; at < len(n.data); {
		end := min(len(n.data), at/block*block+block)
		switch c.chance(n.id, uint64(at)) % 4 {
		case 0, 1:
			data = append(data, n.data[at:end]...)
		case 2:
			data = append(data, make([]byte, end-at)...) // the length was written, the block was not
		case 3:
			return data // neither this block nor what follows
		}
		at = end
	}
	return data
}

// chance returns a number that depends on the seed and what it is for.
func (c *cut) chance(what, at uint64) uint64 {
	x := c.seed*0x9e3779b97f4a7c15 ^ what*0xbf58476d1ce4e5b9 ^ at*0x94d049bb133111eb
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
