// Package sketch holds summaries of many values in little room, which can be merged.
//
// A [HyperLogLog] remembers of the hashes it was given just enough to estimate how many distinct ones there were.
// A register is the largest rank (position of the first one bit) among the hashes that share their first bits.
// While there are few hashes a sketch lists its registers, an entry each, under longer indexes; later it keeps
// them all as bytes.
//
//	h, err := sketch.New(14, 0)
//	for _, x := range values {
//		h.Add(hash(x)) // a good hash of 64 bits
//	}
//	if err := h.Merge(&other); err != nil {
//		return err
//	}
//	n := h.Estimate() // within about 1.04/sqrt(2^14), 0.8 percent
//
// # Guarantees
//
// The estimate depends on the set of hashes alone: not on their order, not on how often each came, not on how sketches
// were merged. A sketch is plain data, so package rdd/codec encodes and copies it; what was decoded is checked before use.
//
// # Who may call what
//
// A sketch is a value without locks: one goroutine at a time.
//
// # What is not here
//
// Hashing: the caller gives hashes of all 64 bits. No intersections, no deletion.
//
// # Sources
//
// Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm", AofA 2007.
// Heule, Nunkesser, Hall, "HyperLogLog in Practice: Algorithmic Engineering of a State of The Art Cardinality Estimation
// Algorithm", EDBT 2013, section on the sparse representation. The estimate is that of Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches", 2017, section on the improved raw estimator: it needs no tables of corrections.
package sketch
