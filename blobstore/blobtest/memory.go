package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/leat-io/leat/blobstore"
)

// A Memory is a blobstore.Store in memory. All of its users share what it holds, as processes share a store.
type Memory struct {
	mu    sync.Mutex // guards all that follows
	names []string   // sorted
	blobs map[string]blob
	tags  uint64 // given so far
	calls int
	plan  Plan
	late  []func() // effects that have not come yet
	page  int
}

type blob struct {
	data []byte // never changed
	tag  blobstore.Tag
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{blobs: make(map[string]blob), page: 1000} }

// SetPage sets how many blobs a listing without a limit returns at most.
func (m *Memory) SetPage(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.page = n
}

// Copy returns a store that holds what m does now. It has no plan.
func (m *Memory) Copy() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMemory()
	c.names, c.tags, c.page = slices.Clone(m.names), m.tags, m.page
	for _, name := range m.names {
		c.blobs[name] = m.blobs[name]
	}
	return c
}

// Names returns the names of all blobs, in order.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.names)
}

// Calls returns how many calls there were.
func (m *Memory) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// set makes name hold data, with m.mu held.
func (m *Memory) set(name string, data []byte) blobstore.Tag {
	if i, found := slices.BinarySearch(m.names, name); !found {
		m.names = slices.Insert(m.names, i, name)
	}
	m.tags++
	tag := blobstore.Tag(fmt.Sprint(m.tags))
	m.blobs[name] = blob{data: bytes.Clone(data), tag: tag}
	return tag
}

// Put makes name hold what write writes.
func (m *Memory) Put(ctx context.Context, name string, write func(w io.Writer) error) error {
	if err := blobstore.CheckName(name); err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		return &blobstore.Error{Op: "put", Name: name, Err: err}
	}
	return m.call(ctx, "put", name, true, func() error {
		m.set(name, buf.Bytes())
		return nil
	})
}

// PutIfAbsent makes name hold data unless it holds anything.
func (m *Memory) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	const op = "put if absent"
	if err := errors.Join(blobstore.CheckName(name), blobstore.CheckData(op, name, data)); err != nil {
		return err
	}
	data = bytes.Clone(data)
	return m.call(ctx, op, name, true, func() error {
		if _, there := m.blobs[name]; there {
			return blobstore.ErrExists
		}
		m.set(name, data)
		return nil
	})
}

// CompareAndSwap makes name hold data if its tag is old.
func (m *Memory) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (tag blobstore.Tag, err error) {
	const op = "compare and swap"
	if err := errors.Join(blobstore.CheckName(name), blobstore.CheckData(op, name, data)); err != nil {
		return "", err
	}
	data = bytes.Clone(data)
	var now blobstore.Tag // not tag, as the effect may come late
	err = m.call(ctx, op, name, true, func() error {
		if m.blobs[name].tag != old {
			return blobstore.ErrChanged
		}
		now = m.set(name, data)
		return nil
	})
	if err != nil {
		return "", err
	}
	return now, nil
}

// Open returns a reader of a blob.
func (m *Memory) Open(ctx context.Context, name string) (io.ReadCloser, int64, error) {
	b, err := m.read(ctx, "open", name)
	return io.NopCloser(bytes.NewReader(b.data)), int64(len(b.data)), err
}

// Read returns a blob and its tag.
func (m *Memory) Read(ctx context.Context, name string) ([]byte, blobstore.Tag, error) {
	b, err := m.read(ctx, "read", name)
	if err == nil && len(b.data) > blobstore.MaxData {
		return nil, "", &blobstore.Error{Op: "read", Name: name, Err: blobstore.ErrTooLarge}
	}
	return bytes.Clone(b.data), b.tag, err
}

func (m *Memory) read(ctx context.Context, op, name string) (b blob, err error) {
	if err := blobstore.CheckName(name); err != nil {
		return blob{}, err
	}
	err = m.call(ctx, op, name, false, func() error {
		there := false
		if b, there = m.blobs[name]; !there {
			return fs.ErrNotExist
		}
		return nil
	})
	return b, err
}

// List returns a page of blobs.
func (m *Memory) List(ctx context.Context, prefix, after string, limit int) (page []blobstore.Info, err error) {
	err = m.call(ctx, "list", prefix, false, func() error {
		if limit <= 0 || limit > m.page {
			limit = m.page
		}
		i, found := slices.BinarySearch(m.names, max(prefix, after))
		if found && after >= prefix {
			i++
		}
		for ; i < len(m.names) && len(page) < limit && strings.HasPrefix(m.names[i], prefix); i++ {
			page = append(page, blobstore.Info{Name: m.names[i], Size: int64(len(m.blobs[m.names[i]].data))})
		}
		return nil
	})
	return page, err
}

// Remove removes blobs.
func (m *Memory) Remove(ctx context.Context, names ...string) error {
	if err := blobstore.CheckNames(names); err != nil || len(names) == 0 {
		return err
	}
	names = slices.Clone(names)
	return m.call(ctx, "remove", names[0], true, func() error {
		for _, name := range names {
			if i, found := slices.BinarySearch(m.names, name); found {
				m.names = slices.Delete(m.names, i, i+1)
				delete(m.blobs, name)
			}
		}
		return nil
	})
}

// String returns "memory".
func (m *Memory) String() string { return "memory" }
