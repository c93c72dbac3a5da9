package streamingcontext

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// maxBlob bounds what is read of a blob.
const maxBlob = 256 << 20

// blobs are files that the driver log refers to by digest. A blob is there, whole, before the log refers to it; what
// nothing refers to any more is removed when a checkpoint counts.
type blobs struct {
	storage storage
	// Where several drivers may share the storage: a blob of one that leads no more is not the same as that of the next, or
	// the former would remove the latter's.
	shared bool
	epoch  uint64 // of the term that writes
}

// errNoBlobs is what a context meets that has nowhere to put a blob.
var errNoBlobs = errors.New("too long for the driver log: a context of GetOrCreate has room for it in its folder")

// write makes data durable and returns the reference to it, of 32 bytes.
func (b *blobs) write(data []byte) (reference []byte, err error) {
	if b == nil {
		return nil, errNoBlobs
	}
	sum := sha256.Sum256(data)
	name := checkpointsFolder + "/" + blobName(sum[:])
	if b.shared {
		name = fmt.Sprintf("%s-%d", name, b.epoch)
	}
	if err := b.storage.write(name, data); err != nil {
		return nil, err
	}
	return sum[:], nil
}

// read returns what a reference stands for.
//
// Errors: ErrDamaged naming the file if it is not what was written.
func (b *blobs) read(reference []byte) ([]byte, error) {
	if b == nil {
		return nil, errNoBlobs
	}
	if len(reference) != sha256.Size {
		return nil, fmt.Errorf("%w: reference of %d bytes", ErrDamaged, len(reference))
	}
	names, err := b.storage.versions(checkpointsFolder + "/" + blobName(reference))
	if err != nil {
		return nil, err
	}
	var first error
	for _, name := range names {
		data, err := b.storage.read(name, maxBlob)
		if err == nil {
			if sum := sha256.Sum256(data); string(sum[:]) == string(reference) {
				return data, nil
			}
			err = fmt.Errorf("%w: %s", ErrDamaged, b.storage.path(name))
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// checkpointsFolder holds blobs and checkpoint files.
const checkpointsFolder = "checkpoints"

func blobName(reference []byte) string { return "blob-" + hex.EncodeToString(reference) }

// blobOf returns the name of a blob without the epoch.
func blobOf(name string) string { return name[:min(len(name), len("blob-")+2*sha256.Size)] }
