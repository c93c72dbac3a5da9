package workload

import "math/bits"

// StreamID names one sequence of draws. Streams are independent of each other.
type StreamID uint64

// The streams in use. A number is never reused for something else: the data would change.
const (
	StreamDictionary   StreamID = 1
	StreamText         StreamID = 2
	StreamAdIDs        StreamID = 3
	StreamAdEvents     StreamID = 4
	StreamAuctions     StreamID = 5
	StreamPairs        StreamID = 6
	StreamVisits       StreamID = 7
	StreamShuffle      StreamID = 8
	StreamPurchases    StreamID = 9
	StreamSensors      StreamID = 10
	StreamAdViews      StreamID = 11
	StreamIntegers     StreamID = 12
	StreamTouches      StreamID = 13
	StreamLetters      StreamID = 50
	StreamURLs         StreamID = 51
	StreamShuffleRules StreamID = 81
)

const (
	// increment is the odd number nearest to 2^64 divided by the golden ratio.
	increment = 0x9E3779B97F4A7C15
	// drawsPerRecord is how many draws a record may make before it reaches those of the next.
	drawsPerRecord = 64
)

// Mix returns z with its bits scrambled. It is one to one: no two words give the same result.
func Mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xBF58476D1CE4E5B9
	z ^= z >> 27
	z *= 0x94D049BB133111EB
	z ^= z >> 31
	return z
}

// Key returns the key of stream id under seed.
func Key(seed uint64, id StreamID) uint64 {
	return Mix(seed + (uint64(id)+1)*increment)
}

// A Stream is one sequence of draws under one seed. It holds its key and nothing else, so it is
// copied freely.
type Stream struct{ key uint64 }

// NewStream returns stream id under seed.
func NewStream(seed uint64, id StreamID) Stream {
	return Stream{key: Key(seed, id)}
}

// U returns draw j of record i, any of the 2^64 words with equal chance.
//
// Shape: 0 <= j < 64; draw 64 of a record would be draw 0 of the next.
func (s Stream) U(i, j uint64) uint64 {
	return Mix(s.key + (drawsPerRecord*i+j+1)*increment)
}

// Below returns x scaled down to 0 <= result < n: the high word of x times n. It returns 0 for n = 0.
func Below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}
