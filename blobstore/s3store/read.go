package s3store

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/leat-io/leat/blobstore"
)

// Open returns a reader of a blob, which compares it with its digest when it comes to the end, and asks for the rest where a connection
// breaks.
//
// Cost: a request.
// Errors: as blobstore.Store says.
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	if err := blobstore.CheckName(name); err != nil {
		return nil, 0, err
	}
	r, err := s.open(ctx, name)
	if err != nil {
		return nil, 0, failed("open", name, err)
	}
	return r, r.size, nil
}

// Read returns a blob and its tag, which is the object's.
//
// Cost: a request.
// Errors: as blobstore.Store says.
func (s *Store) Read(ctx context.Context, name string) ([]byte, blobstore.Tag, error) {
	if err := blobstore.CheckName(name); err != nil {
		return nil, "", err
	}
	data, tag, err := s.read(ctx, name)
	if err != nil {
		return nil, "", failed("read", name, err)
	}
	return data, tag, nil
}

func (s *Store) read(ctx context.Context, name string) ([]byte, blobstore.Tag, error) {
	for n := 1; ; n++ {
		r, err := s.open(ctx, name)
		if err != nil {
			return nil, "", err
		}
		if r.size > blobstore.MaxData {
			return nil, "", errors.Join(fmt.Errorf("%w: %d bytes", blobstore.ErrTooLarge, r.size), r.Close())
		}
		data := make([]byte, r.size)
		_, err = io.ReadFull(r, data)
		if err == nil {
			_, err = io.ReadFull(r, make([]byte, 1)) // meets the end, where the digest is compared
			if errors.Is(err, io.EOF) {
				err = nil
			}
		}
		_ = r.Close() // nothing was written
		if errors.Is(err, errReplaced) && n < s.opts.Attempts {
			continue
		}
		return data, blobstore.Tag(r.tag), err
	}
}

// errReplaced says that a blob was replaced or removed while it was read.
var errReplaced = errors.New("replaced while it was read")

// A reader reads an object.
type reader struct {
	store *Store
	ctx   context.Context // of the call
	name  string
	tag   string
	size  int64
	at    int64 // bytes read
	check check
	fails int // connections broken since something was read

	body   io.ReadCloser
	cancel context.CancelFunc
	err    error // what every further call returns
}

func (s *Store) open(ctx context.Context, name string) (*reader, error) {
	r := &reader{store: s, ctx: ctx, name: name}
	err := s.reading(ctx, func(context.Context) error { return r.connect() })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// connect asks for the object from where the last connection broke.
func (r *reader) connect() error {
	s := r.store
	opts := minio.GetObjectOptions{}
	if r.at > 0 {
		if err := errors.Join(opts.SetRange(r.at, r.size-1), opts.SetMatchETag(r.tag)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(r.ctx) // it lives as long as the body
	timer := time.AfterFunc(s.opts.Timeout, cancel)
	defer timer.Stop()
	body, info, _, err := s.client.GetObject(ctx, s.opts.Bucket, s.key(r.name), opts)
	if err != nil {
		cancel()
		return err
	}
	if r.at == 0 {
		r.tag, r.size = info.ETag, info.Size
		r.check = s.checkOf(info)
	}
	r.body, r.cancel = body, cancel
	return nil
}

// Read reads on.
func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	n, err := r.once(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		r.err = io.EOF
		if what := r.check.compare(r.tag); what != "" {
			r.err = &blobstore.CorruptError{Store: r.store.String(), Name: r.name, What: what}
		}
	default:
		r.err = err
	}
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// once reads from a connection, or another if that breaks. The end of the object is io.EOF.
func (r *reader) once(p []byte) (int, error) {
	for {
		if r.at == r.size {
			return 0, io.EOF
		}
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if r.body == nil {
			err := r.store.reading(r.ctx, func(context.Context) error { return r.connect() })
			if code := statusOf(err); code == http.StatusPreconditionFailed || code == http.StatusNotFound {
				err = fmt.Errorf("%w: %w", errReplaced, err)
			}
			if err != nil {
				return 0, err
			}
		}
		if int64(len(p)) > r.size-r.at {
			p = p[:r.size-r.at]
		}
		timer := time.AfterFunc(r.store.opts.Timeout, r.cancel)
		n, err := r.body.Read(p)
		timer.Stop()
		r.check.write(p[:n])
		r.at += int64(n)
		if n > 0 {
			r.fails = 0
			return n, nil // an error comes again
		}
		if err == nil {
			continue
		}
		r.drop()
		if r.fails++; r.fails >= r.store.opts.Attempts {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}

func (r *reader) drop() {
	if r.body != nil {
		_ = r.body.Close() // nothing was written
		r.cancel()
		r.body = nil
	}
}

// Close ends the reading.
func (r *reader) Close() error {
	r.drop()
	if r.err == nil {
		r.err = errors.New("closed")
	}
	return nil
}

// A check compares an object with what is known of it.
type check struct {
	digest string    // SHA-256 in hexadecimal, or none
	sum    hash.Hash // of it; nil if there is none
	part   hash.Hash // MD5 of the part that is being read, if tags are made of those
	size   int64     // of parts
	left   int64     // of the part
	sums   []byte    // of the parts before
}

func (s *Store) checkOf(info minio.ObjectInfo) check {
	if digest := info.UserMetadata[digestKey]; digest != "" {
		return check{digest: digest, sum: sha256.New()}
	}
	size, err := strconv.ParseInt(info.UserMetadata[partsKey], 10, 64)
	if err != nil || size <= 0 || !s.md5Tags {
		return check{} // of another writer
	}
	return check{part: md5.New(), size: size, left: size}
}

func (c *check) write(p []byte) {
	if c.sum != nil {
		c.sum.Write(p)
	}
	for c.part != nil && len(p) > 0 {
		k := min(int64(len(p)), c.left)
		c.part.Write(p[:k])
		p = p[k:]
		if c.left -= k; c.left == 0 {
			c.next()
		}
	}
}

func (c *check) next() {
	c.sums = c.part.Sum(c.sums)
	c.part.Reset()
	c.left = c.size
}

// compare returns what does not fit, if anything.
func (c *check) compare(tag string) string {
	if c.sum != nil && hex.EncodeToString(c.sum.Sum(nil)) != c.digest {
		return "its bytes do not have the digest that was stored with them"
	}
	if c.part == nil {
		return ""
	}
	if c.left != c.size {
		c.next()
	}
	sum := md5.Sum(c.sums)
	if want, _, _ := strings.Cut(tag, "-"); hex.EncodeToString(sum[:]) != want {
		return "its bytes do not have the digest that its tag is"
	}
	return ""
}
