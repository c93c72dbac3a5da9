package receivers

import (
	"context"
	"sync"
)

// BlockID tells the blocks of one stream apart. Later blocks have greater ids. It is the start of the block interval
// in milliseconds where that is free, else the next number after the last one.
type BlockID int64

// Block is a group of records that is stored, replicated and allocated to a batch as a whole.
type Block[T any] struct {
	Stream  int32   // the input stream the records belong to
	ID      BlockID // unique within the stream
	Records []T     // in the order they were stored; never empty
}

// Count returns the number of records.
func (b Block[T]) Count() int64 { return int64(len(b.Records)) }

// Blocks takes finished blocks. The caller of this package implements it, as a block store with a log.
type Blocks[T any] interface {
	// Put stores block and returns when it is safe: kept, replicated and entered in the log, whatever the store
	// promises. It is called from the generator's goroutine, one block after another in the order of their ids, and at
	// the same time from goroutines of the receiver for blocks stored whole. It may wait; everything behind it then
	// waits too. It owns block.Records once it returns nil. After an error a block of the generator is put again, the same
	// records under the same id, so a Put that finds the id already stored returns nil.
	Put(ctx context.Context, block Block[T]) error
}

// blockIDs hands out the ids of one stream. The generator and the sink of a supervisor share it.
type blockIDs struct {
	mu   sync.Mutex // guards last
	last BlockID
}

func (ids *blockIDs) next(millis int64) BlockID {
	ids.mu.Lock()
	defer ids.mu.Unlock()
	ids.last = max(ids.last+1, BlockID(millis))
	return ids.last
}
