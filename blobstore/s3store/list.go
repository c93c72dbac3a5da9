package s3store

import (
	"context"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/leat-io/leat/blobstore"
)

// maxPage is how many objects a response lists.
const maxPage = 1000

// List returns a page of blobs.
//
// Cost: a request.
// Errors: as blobstore.Store says; *blobstore.UnsupportedError for a store that lists them in another order.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]blobstore.Info, error) {
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	var page []blobstore.Info
	err := s.reading(ctx, func(ctx context.Context) (err error) {
		page, err = s.page(ctx, prefix, after, limit)
		return err
	})
	if err != nil {
		return nil, failed("list", prefix, err)
	}
	return page, nil
}

func (s *Store) page(ctx context.Context, prefix, after string, limit int) (page []blobstore.Info, err error) {
	opts := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, MaxKeys: limit}
	if after != "" {
		opts.StartAfter = s.key(after)
	}
	last := after
	for object := range s.client.ListObjectsIter(ctx, s.opts.Bucket, opts) {
		if object.Err != nil {
			return nil, object.Err
		}
		name, ours := strings.CutPrefix(object.Key, s.prefix)
		if !ours || blobstore.CheckName(name) != nil {
			continue // a folder's, or of somebody else
		}
		if name <= last {
			return nil, &blobstore.UnsupportedError{Store: s.String(), What: "does not list names in the order of their bytes"}
		}
		last = name
		page = append(page, blobstore.Info{Name: name, Size: object.Size})
		if len(page) == limit {
			break
		}
	}
	return page, ctx.Err()
}
