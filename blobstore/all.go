package blobstore

import (
	"context"
	"iter"
)

// All returns the blobs of s whose names begin with prefix and come after the name after, in order, page by page. An error ends
// it.
//
// Cost: one List a page, one page in memory.
// Errors: those of List, in place of a blob.
func All(ctx context.Context, s Store, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for {
			page, err := s.List(ctx, prefix, after, 0)
			if err != nil {
				yield(Info{}, err)
				return
			}
			for _, info := range page {
				if !yield(info, nil) {
					return
				}
				after = info.Name
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// RemoveAll removes the blobs of s whose names begin with prefix.
//
// Cost: one List and one Remove a page.
// Errors: those of List and Remove; some blobs may be gone then.
func RemoveAll(ctx context.Context, s Store, prefix string) error {
	for after := ""; ; {
		page, err := s.List(ctx, prefix, after, 0)
		if err != nil || len(page) == 0 {
			return err
		}
		names := make([]string, len(page))
		for i, info := range page {
			names[i] = info.Name
		}
		if err := s.Remove(ctx, names...); err != nil {
			return err
		}
		after = names[len(names)-1]
	}
}
