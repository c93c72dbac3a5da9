package peer

import "sync"

// ChannelChain returns what FusedChain returns. Each stage is a goroutine that receives one record
// at a time from the stage before: the pipeline that Go programs are often written as.
//
// Shape: channels with room for buffer records; 1024 if buffer is not above 0.
// Cost: a send and a receive for each record and stage. There is no context, since a select in
// every send would make the peer slower than it need be; the input is finite, so it ends.
func ChannelChain(xs []int64, buffer int) (keySum int64, passed int) {
	buffer = chunkOf(buffer)
	read := make(chan int64, buffer)
	mapped := make(chan int64, buffer)
	kept := make(chan int64, buffer)
	keys := make(chan int64, buffer)

	var stages sync.WaitGroup
	stages.Go(func() {
		defer close(read)
		for _, x := range xs {
			read <- x
		}
	})
	stages.Go(func() {
		defer close(mapped)
		for x := range read {
			mapped <- x>>3 ^ x
		}
	})
	stages.Go(func() {
		defer close(kept)
		for y := range mapped {
			if y&3 != 0 {
				kept <- y
			}
		}
	})
	stages.Go(func() {
		defer close(keys)
		for y := range kept {
			keys <- y & 16383
			keys <- y >> 20 & 16383
		}
	})
	n := 0
	for k := range keys {
		keySum += k
		n++
	}
	stages.Wait()
	return keySum, n / 2
}
