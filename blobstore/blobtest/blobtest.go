package blobtest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/leat-io/leat/blobstore"
)

// A Factory opens the stores of one implementation.
type Factory interface {
	// Open returns an empty store.
	Open(t *testing.T) blobstore.Store
}

// A Reopener is a Factory that can open a store a second time, beside the first, as another process would.
type Reopener interface {
	Reopen(t *testing.T, s blobstore.Store) blobstore.Store
}

// Run runs the suite against the stores of factory.
func Run(t *testing.T, factory Factory) {
	cases := []struct {
		name string
		run  func(s *suite)
	}{
		{"what_is_put_can_be_read", putAndRead},
		{"a_put_replaces_the_whole_blob", replacing},
		{"a_put_that_fails_leaves_the_name_as_it_was", failedPut},
		{"a_blob_is_streamed_in_and_out", streaming},
		{"a_name_that_holds_nothing_is_named", nothing},
		{"of_two_creations_the_first_counts", creating},
		{"of_racing_creations_one_wins", racingCreations},
		{"a_swap_needs_the_latest_tag", swapping},
		{"racing_swaps_lose_nothing", racingSwaps},
		{"a_reader_beside_writers_sees_whole_blobs", readingBesideWriting},
		{"names_are_listed_in_the_order_of_their_bytes", listing},
		{"a_listing_is_paged", paging},
		{"odd_names_are_kept_apart", oddNames},
		{"bad_names_are_refused", badNames},
		{"too_much_in_one_piece_is_refused", tooLarge},
		{"what_is_removed_is_gone", removing},
		{"an_ended_context_is_obeyed", contextEnded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSuite(t, factory)
			c.run(s)
		})
	}
	if r, ok := factory.(Reopener); ok {
		t.Run("two_stores_of_one_place_are_one", func(t *testing.T) { shared(newSuite(t, factory), r) })
	}
}

// A suite is one case's store and the shorthand to use it.
type suite struct {
	*testing.T
	ctx     context.Context
	store   blobstore.Store
	another blobstore.Store // of the same place; the same store if the factory cannot reopen
}

func newSuite(t *testing.T, factory Factory) *suite {
	t.Helper()
	s := &suite{T: t, ctx: t.Context(), store: factory.Open(t)}
	s.another = s.store
	if r, ok := factory.(Reopener); ok {
		s.another = r.Reopen(t, s.store)
	}
	return s
}

func writing(data string) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, data)
		return err
	}
}

func (s *suite) put(name, data string) {
	s.Helper()
	if err := s.store.Put(s.ctx, name, writing(data)); err != nil {
		s.Fatalf("Put: %v", err)
	}
}

// want checks that name holds data, by both ways of reading, and returns its tag.
func (s *suite) want(name, data string) blobstore.Tag {
	s.Helper()
	got, tag, err := s.store.Read(s.ctx, name)
	if err != nil || string(got) != data {
		s.Fatalf("Read(%q) = %.60q, %v; want %.60q", name, got, err, data)
	}
	if tag == blobstore.Absent {
		s.Errorf("Read(%q) has no tag", name)
	}
	r, size, err := s.store.Open(s.ctx, name)
	if err != nil {
		s.Fatalf("Open: %v", err)
	}
	got, err = io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || string(got) != data || size != int64(len(data)) {
		s.Errorf("Open(%q) = %.60q of %d bytes, %v; want %.60q", name, got, size, err, data)
	}
	return tag
}

// absent checks that name holds nothing.
func (s *suite) absent(name string) {
	s.Helper()
	if _, _, err := s.store.Read(s.ctx, name); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("Read(%q) = %v, want fs.ErrNotExist", name, err)
	}
}

// names lists all names that begin with prefix.
func (s *suite) names(prefix string) []string {
	s.Helper()
	names := []string{}
	for info, err := range blobstore.All(s.ctx, s.store, prefix, "") {
		if err != nil {
			s.Fatalf("All: %v", err)
		}
		names = append(names, info.Name)
	}
	return names
}

// failed checks that err is an *Error that names name and matches target.
func (s *suite) failed(err error, name string, target error) {
	s.Helper()
	var e *blobstore.Error
	if !errors.As(err, &e) || e.Name != name || !strings.Contains(err.Error(), name) || !errors.Is(err, target) {
		s.Errorf("error %v, want an *Error of %q that is %v", err, name, target)
	}
}
