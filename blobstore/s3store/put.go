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
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/leat-io/leat/blobstore"
)

// maxParts is how many parts the protocol allows.
const maxParts = 10_000

// bodyLimit is how long a request may take that sends n bytes.
func (s *Store) bodyLimit(n int) time.Duration {
	return s.opts.Timeout + time.Duration(n>>20)*time.Second
}

// Put makes name hold what write writes.
//
// Cost: a request for a blob of at most Options.PartSize; for a larger one a request for each part of that size and two more.
// What is in memory is one part.
// Errors: as blobstore.Store says.
func (s *Store) Put(ctx context.Context, name string, write func(w io.Writer) error) error {
	if err := errors.Join(s.writable(), blobstore.CheckName(name)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return failed("put", name, err)
	}
	w := &upload{store: s, ctx: ctx, name: name, token: rand.Text()}
	err := write(w)
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		err = errors.Join(err, w.abort())
	}
	return failed("put", name, err)
}

// An upload is a blob that is being written.
type upload struct {
	store *Store
	ctx   context.Context // of the call
	name  string
	token string
	buf   []byte
	id    string // of the upload in parts, if there is one
	parts []minio.CompletePart
	sums  []byte // MD5 of each part
	err   error  // of a part
}

// Write keeps what it is given until a part is full, and sends that.
func (w *upload) Write(p []byte) (n int, err error) {
	size := int(w.store.opts.PartSize)
	for len(p) > 0 && w.err == nil {
		if len(w.buf) == size { // more follows, so it is not the only part
			if w.err = w.part(); w.err != nil {
				break
			}
		}
		k := min(len(p), size-len(w.buf))
		w.buf = append(w.buf, p[:k]...)
		p, n = p[k:], n+k
	}
	return n, w.err
}

// part sends buf as the next part.
func (w *upload) part() error {
	s := w.store
	if w.id == "" {
		_, err := s.attempt(w.ctx, s.opts.Timeout, func(ctx context.Context, _ bool) (err error) {
			w.id, err = s.client.NewMultipartUpload(ctx, s.opts.Bucket, s.key(w.name), minio.PutObjectOptions{
				ContentType:  contentType,
				UserMetadata: map[string]string{tokenKey: w.token, partsKey: strconv.FormatInt(s.opts.PartSize, 10)},
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	n := len(w.parts) + 1
	if n > maxParts {
		return fmt.Errorf("%w: more than %d parts of %d bytes", blobstore.ErrTooLarge, maxParts, s.opts.PartSize)
	}
	sum, sum5 := sha256.Sum256(w.buf), md5.Sum(w.buf)
	_, err := s.attempt(w.ctx, s.bodyLimit(len(w.buf)), func(ctx context.Context, _ bool) error {
		part, err := s.client.PutObjectPart(ctx, s.opts.Bucket, s.key(w.name), w.id, n, bytes.NewReader(w.buf), int64(len(w.buf)),
			minio.PutObjectPartOptions{
				Md5Base64: base64.StdEncoding.EncodeToString(sum5[:]), Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true,
			})
		if err == nil {
			w.parts = append(w.parts, minio.CompletePart{PartNumber: n, ETag: part.ETag})
		}
		return err
	})
	w.sums = append(w.sums, sum5[:]...)
	w.buf = w.buf[:0]
	return err
}

// finish sends what is left, and makes the blob.
func (w *upload) finish() error {
	s := w.store
	if w.err != nil {
		return w.err // write has not returned it
	}
	if w.id == "" {
		unknown, err := s.attempt(w.ctx, s.bodyLimit(len(w.buf)), func(ctx context.Context, _ bool) error {
			_, err := s.send(ctx, w.name, w.buf, minio.PutObjectOptions{UserMetadata: map[string]string{tokenKey: w.token}})
			return err
		})
		return uncertain(unknown, err)
	}
	if err := w.part(); err != nil {
		return err
	}
	unknown, err := s.attempt(w.ctx, s.bodyLimit(0)+time.Duration(len(w.parts))*time.Second, func(ctx context.Context, before bool) error {
		_, err := s.client.CompleteMultipartUpload(ctx, s.opts.Bucket, s.key(w.name), w.id, w.parts, minio.PutObjectOptions{})
		if !before || statusOf(err) != http.StatusNotFound {
			return err
		}
		// The upload is gone, as if an attempt whose answer was lost had made the blob.
		if info, serr := s.stat(ctx, w.name); serr == nil && info.UserMetadata[tokenKey] == w.token {
			return nil
		}
		return err
	})
	if err == nil {
		w.id = ""
	}
	return uncertain(unknown, err)
}

// abort gives up the parts that were sent.
func (w *upload) abort() error {
	if w.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.store.opts.Timeout)
	defer cancel()
	if err := w.store.client.AbortMultipartUpload(ctx, w.store.opts.Bucket, w.store.key(w.name), w.id); err != nil {
		w.store.opts.Logger.WarnContext(ctx, "object store upload left", "store", w.store.String(), "error", err)
	}
	return nil
}
