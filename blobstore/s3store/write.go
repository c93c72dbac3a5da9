package s3store

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/minio/minio-go/v7"

	"github.com/leat-io/leat/blobstore"
)

// What an object says of itself, in its metadata.
const (
	tokenKey  = "Leat-Token"     // of the call that wrote it
	digestKey = "Leat-Sha256"    // of its bytes; objects in parts have none
	partsKey  = "Leat-Part-Size" // of objects in parts
)

// contentType is that of all objects.
const contentType = "application/octet-stream"

func md5Hex(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// send sends an object in one piece, once.
func (s *Store) send(ctx context.Context, name string, data []byte, opts minio.PutObjectOptions) (blobstore.Tag, error) {
	sum, sum5 := sha256.Sum256(data), md5.Sum(data)
	opts.UserMetadata[digestKey] = hex.EncodeToString(sum[:])
	opts.ContentType = contentType
	opts.DisableContentSha256 = true // it is given, not sent behind each chunk
	info, err := s.client.PutObject(ctx, s.opts.Bucket, s.key(name), bytes.NewReader(data), int64(len(data)),
		base64.StdEncoding.EncodeToString(sum5[:]), hex.EncodeToString(sum[:]), opts)
	return blobstore.Tag(info.ETag), err
}

// PutIfAbsent makes name hold data unless it holds anything.
//
// Cost: a request.
// Errors: as blobstore.Store says.
func (s *Store) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	const op = "put if absent"
	if err := errors.Join(s.writable(), blobstore.CheckName(name), blobstore.CheckData(op, name, data)); err != nil {
		return err
	}
	_, err := s.conditional(ctx, name, data, blobstore.Absent)
	if errors.Is(err, blobstore.ErrChanged) {
		err = blobstore.ErrExists
	}
	return failed(op, name, err)
}

// CompareAndSwap makes name hold data if its tag, which is the object's, is old.
//
// Cost: a request.
// Errors: as blobstore.Store says.
func (s *Store) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (blobstore.Tag, error) {
	const op = "compare and swap"
	if err := errors.Join(s.writable(), blobstore.CheckName(name), blobstore.CheckData(op, name, data)); err != nil {
		return "", err
	}
	tag, err := s.conditional(ctx, name, data, old)
	return tag, failed(op, name, err)
}

// conditional writes an object if what is there has the tag old.
//
// Errors: blobstore.ErrChanged if it has not; blobstore.ErrUnknown.
func (s *Store) conditional(ctx context.Context, name string, data []byte, old blobstore.Tag) (tag blobstore.Tag, err error) {
	token := rand.Text()
	unknown, err := s.attempt(ctx, s.bodyLimit(len(data)), func(ctx context.Context, before bool) error {
		opts := minio.PutObjectOptions{UserMetadata: map[string]string{tokenKey: token}}
		if old == blobstore.Absent {
			opts.SetMatchETagExcept("*")
		} else {
			opts.SetMatchETag(string(old))
		}
		now, err := s.send(ctx, name, data, opts)
		code := statusOf(err)
		switch {
		case err == nil:
			tag = now
			return nil
		case code != http.StatusPreconditionFailed && (code != http.StatusNotFound || old == blobstore.Absent || codeOf(err) == "NoSuchBucket"):
			return err
		case !before:
			return blobstore.ErrChanged
		}
		// An attempt whose answer was lost may have made the change: the object says who wrote it.
		info, serr := s.stat(ctx, name)
		switch {
		case serr == nil && info.UserMetadata[tokenKey] == token:
			tag = blobstore.Tag(info.ETag)
			return nil
		case serr != nil && !errors.Is(serr, fs.ErrNotExist):
			return serr
		case old == blobstore.Absent && serr == nil:
			return settled{blobstore.ErrChanged} // what is created stays, so ours never was
		}
		return settled{fmt.Errorf("%w: %w", blobstore.ErrUnknown, blobstore.ErrChanged)}
	})
	var done settled
	if errors.As(err, &done) {
		return "", done.error
	}
	return tag, uncertain(unknown, err)
}

// settled is an error after which nothing more is asked, although an attempt before it was unclear.
type settled struct{ error }

func codeOf(err error) string { return minio.ToErrorResponse(err).Code }

// stat asks for what an object says of itself, once.
func (s *Store) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	info, err := s.client.StatObject(ctx, s.opts.Bucket, s.key(name), minio.StatObjectOptions{})
	if statusOf(err) == http.StatusNotFound {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return info, err
}

// maxRemove is how many objects a request removes.
const maxRemove = 1000

// Remove removes blobs.
//
// Cost: a request for each thousand.
// Errors: as blobstore.Store says.
func (s *Store) Remove(ctx context.Context, names ...string) error {
	if err := errors.Join(s.writable(), blobstore.CheckNames(names)); err != nil {
		return err
	}
	for chunk := range slices.Chunk(names, maxRemove) {
		_, err := s.attempt(ctx, s.opts.Timeout, func(ctx context.Context, _ bool) error {
			if len(chunk) == 1 {
				return s.client.RemoveObject(ctx, s.opts.Bucket, s.key(chunk[0]), minio.RemoveObjectOptions{})
			}
			objects := func(yield func(minio.ObjectInfo) bool) {
				for _, name := range chunk {
					if !yield(minio.ObjectInfo{Key: s.key(name)}) {
						return
					}
				}
			}
			results, err := s.client.RemoveObjectsWithIter(ctx, s.opts.Bucket, objects, minio.RemoveObjectsOptions{})
			if err != nil {
				return err
			}
			for result := range results {
				if result.Err != nil && codeOf(result.Err) != "NoSuchKey" {
					return fmt.Errorf("remove %q: %w", result.ObjectName, result.Err)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return failed("remove", chunk[0], err)
		}
	}
	return nil
}
