package streamingcontext

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxBlob bounds what is read of a blob.
const maxBlob = 256 << 20

// blobs are files that the driver log refers to by digest. A blob is there, whole, before the log refers to it; what
// nothing refers to any more is removed by keep.
type blobs struct{ dir string }

// errNoBlobs is what a context meets that has nowhere to put a blob.
var errNoBlobs = errors.New("too long for the driver log: a context of GetOrCreate has room for it in its folder")

// write makes data durable and returns the reference to it, of 32 bytes.
func (b *blobs) write(data []byte) (reference []byte, err error) {
	if b == nil {
		return nil, errNoBlobs
	}
	sum := sha256.Sum256(data)
	if err := writeDurable(filepath.Join(b.dir, blobName(sum[:])), data); err != nil {
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
	path := filepath.Join(b.dir, blobName(reference))
	data, err := readBounded(path, maxBlob)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(reference) {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, path)
	}
	return data, nil
}

func blobName(reference []byte) string { return "blob-" + hex.EncodeToString(reference) }

// temporaryPrefix begins the names of files that are not whole yet.
const temporaryPrefix = "_temporary-"

// writeDurable makes a file of data that is there whole or not at all, and stays when the machine loses power.
func writeDurable(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, temporaryPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // what is left of it is only room taken
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder makes durable which names a folder has.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrInvalid) {
		err = nil // the system has no such thing, as Windows
	}
	return errors.Join(err, f.Close())
}

// readBounded returns a file's bytes.
//
// Errors: ErrDamaged if there are more than limit.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrDamaged, path, info.Size())
	}
	return os.ReadFile(path)
}
