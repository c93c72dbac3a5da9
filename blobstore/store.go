package blobstore

import (
	"context"
	"io"
)

// MaxData bounds the bytes of a blob that is written or read in one piece. Put and Open have no bound.
const MaxData = 64 << 20

// A Tag tells the versions of a blob apart. It means something only to the store that gave it. Versions of equal bytes may
// have equal tags, so what is swapped should hold something that no other version holds, as a counter.
type Tag string

// Absent is the tag of a name that holds nothing.
const Absent Tag = ""

// Info is what a listing says of a blob.
type Info struct {
	Name string
	Size int64
}

// A Store keeps blobs under names. Streaming contexts and driver logs call it, a few times a batch and once a part of
// a checkpoint.
//
// All methods may be called from any goroutine and may overlap. None keeps its arguments. A context that ends ends the call; what a
// write has done by then is what its error says.
//
// Errors, of all methods: *NameError for what CheckName refuses, before anything is done; *Error around everything
// else, with the name. A call that returns an error which does not match ErrUnknown has had no effect, and will have none.
type Store interface {
	// Put makes name hold what write writes, in place of anything it held before: whole and durable when it returns nil. It calls
	// write once, from the caller's goroutine.
	//
	// Errors: that of write, and then the name is as it was. ErrUnknown: the name holds what it did before or the
	// new blob, or will do so later.
	Put(ctx context.Context, name string, write func(w io.Writer) error) error
	// PutIfAbsent makes name hold data unless it holds anything.
	//
	// Errors: ErrExists if it does; what is there is then durable. ErrUnknown: data may be there, or may be later.
	PutIfAbsent(ctx context.Context, name string, data []byte) error
	// CompareAndSwap makes name hold data if what it holds has the tag old, and returns the new tag. A blob that is swapped is
	// written by PutIfAbsent and CompareAndSwap alone.
	//
	// Errors: ErrChanged if it has another tag, or holds nothing and old is not Absent, or anything and old is. ErrUnknown:
	// data may be there, or may be later.
	CompareAndSwap(ctx context.Context, name string, old Tag, data []byte) (Tag, error)
	// Open returns a reader of a blob, which the caller closes, and its size. A blob that is replaced or removed while it is read
	// is read to its end as it was, or the reader fails.
	//
	// Errors: fs.ErrNotExist; of the reader, *CorruptError for bytes that are not what was written, if the store can tell.
	Open(ctx context.Context, name string) (io.ReadCloser, int64, error)
	// Read returns a blob of at most MaxData bytes and its tag.
	//
	// Errors: fs.ErrNotExist; ErrTooLarge; *CorruptError as of Open.
	Read(ctx context.Context, name string) ([]byte, Tag, error)
	// List returns blobs whose names begin with prefix and come after the name after, in the order of the bytes of the
	// names: at most limit of them, or as many as the store likes if limit is 0. None says that there are no more. What is
	// written or removed during a listing may be listed or not; everything else is, once.
	List(ctx context.Context, prefix, after string, limit int) ([]Info, error)
	// Remove removes blobs. One that is not there is no error. Where it fails some may be gone. Of a removal and a swap of the same name at the same
	// time either may be the last.
	Remove(ctx context.Context, names ...string) error
	// String returns the kind of the store and its place, without secrets.
	String() string
}
