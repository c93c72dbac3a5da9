package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/blobstore"
)

func putAndRead(s *suite) {
	for _, data := range []string{"hello", "", "\x00\xff", strings.Repeat("0123456789", 20_000)} {
		name := fmt.Sprintf("a/b/%d", len(data))
		s.put(name, data)
		s.want(name, data)
	}
}

func replacing(s *suite) {
	s.put("a", "a long first blob")
	s.put("a", "short")
	s.want("a", "short")
	s.put("a", "")
	s.want("a", "")
}

func failedPut(s *suite) {
	wrong := errors.New("wrong")
	fail := func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 100_000)); err != nil {
			return err
		}
		return wrong
	}
	s.failed(s.store.Put(s.ctx, "dir/a", fail), "dir/a", wrong)
	s.absent("dir/a")
	s.put("dir/a", "before")
	s.failed(s.store.Put(s.ctx, "dir/a", fail), "dir/a", wrong)
	s.want("dir/a", "before")
	if names := s.names(""); len(names) != 1 {
		s.Errorf("names %q, want dir/a alone", names)
	}
}

func streaming(s *suite) {
	const chunks, size = 300, 10_007 // 3 MB
	chunk := func(i int) []byte {
		b := bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i * 31)}, size/3+1)
		return b[:size]
	}
	sum := crc32.NewIEEE()
	err := s.store.Put(s.ctx, "large", func(w io.Writer) error {
		for i := range chunks {
			b := chunk(i)
			sum.Write(b)
			if n, err := w.Write(b); err != nil || n != len(b) {
				return fmt.Errorf("wrote %d bytes: %w", n, err)
			}
			clear(b) // a writer keeps nothing
		}
		return nil
	})
	if err != nil {
		s.Fatalf("Put: %v", err)
	}
	r, n, err := s.store.Open(s.ctx, "large")
	if err != nil {
		s.Fatalf("Open: %v", err)
	}
	got := crc32.NewIEEE()
	read, err := io.Copy(got, r)
	if err = errors.Join(err, r.Close()); err != nil || read != chunks*size || n != read || got.Sum32() != sum.Sum32() {
		s.Errorf("read %d bytes of %d, checksum %08x of %08x, %v", read, n, got.Sum32(), sum.Sum32(), err)
	}
}

func nothing(s *suite) {
	s.put("there", "x")
	for _, name := range []string{"not-there", "dir/not-there"} {
		_, _, err := s.store.Read(s.ctx, name)
		s.failed(err, name, fs.ErrNotExist)
		_, _, err = s.store.Open(s.ctx, name)
		s.failed(err, name, fs.ErrNotExist)
	}
}

func creating(s *suite) {
	if err := s.store.PutIfAbsent(s.ctx, "dir/a", []byte("first")); err != nil {
		s.Fatal(err)
	}
	s.failed(s.store.PutIfAbsent(s.ctx, "dir/a", []byte("second")), "dir/a", blobstore.ErrExists)
	s.failed(s.store.PutIfAbsent(s.ctx, "dir/a", []byte("first")), "dir/a", blobstore.ErrExists)
	s.want("dir/a", "first")
	s.put("b", "put")
	s.failed(s.store.PutIfAbsent(s.ctx, "b", nil), "b", blobstore.ErrExists)
	if err := s.store.PutIfAbsent(s.ctx, "empty", nil); err != nil {
		s.Fatal(err)
	}
	s.want("empty", "")
	s.failed(s.store.PutIfAbsent(s.ctx, "empty", nil), "empty", blobstore.ErrExists)
}

func racingCreations(s *suite) {
	const racers, rounds = 8, 10
	for round := range rounds {
		name := fmt.Sprintf("round-%d", round)
		var won [racers]bool
		var wg sync.WaitGroup
		for i := range racers {
			wg.Go(func() {
				store := s.store
				if i%2 == 1 {
					store = s.another
				}
				err := store.PutIfAbsent(s.ctx, name, []byte(strconv.Itoa(i)))
				if won[i] = err == nil; err != nil && !errors.Is(err, blobstore.ErrExists) {
					s.Errorf("PutIfAbsent: %v", err)
				}
			})
		}
		wg.Wait()
		winners := 0
		for i := range won {
			if won[i] {
				winners++
				s.want(name, strconv.Itoa(i))
			}
		}
		if winners != 1 {
			s.Errorf("%d creations won", winners)
		}
	}
}

func swapping(s *suite) {
	swap := func(old blobstore.Tag, data string) blobstore.Tag {
		s.Helper()
		tag, err := s.store.CompareAndSwap(s.ctx, "dir/a", old, []byte(data))
		if err != nil {
			s.Fatalf("CompareAndSwap(%q): %v", old, err)
		}
		if read := s.want("dir/a", data); read != tag {
			s.Errorf("tag %q, Read says %q", tag, read)
		}
		return tag
	}
	refused := func(name string, old blobstore.Tag) {
		s.Helper()
		_, err := s.store.CompareAndSwap(s.ctx, name, old, []byte("refused"))
		s.failed(err, name, blobstore.ErrChanged)
	}
	first := swap(blobstore.Absent, "1")
	refused("dir/a", blobstore.Absent)
	refused("dir/b", first)
	second := swap(first, "2")
	if second == first {
		s.Error("two versions have one tag")
	}
	refused("dir/a", first)
	refused("dir/a", blobstore.Absent)
	third := swap(second, "3")
	if err := s.store.Remove(s.ctx, "dir/a"); err != nil {
		s.Fatal(err)
	}
	refused("dir/a", third)
	s.absent("dir/a")
	if err := s.store.PutIfAbsent(s.ctx, "dir/a", []byte("created")); err != nil {
		s.Fatal(err)
	}
	swap(s.want("dir/a", "created"), "4")
}

func racingSwaps(s *suite) {
	const racers, each = 4, 6
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			store := s.store
			if i%2 == 1 {
				store = s.another
			}
			for n := 0; n < each; {
				count := 0
				data, tag, err := store.Read(s.ctx, "counter")
				switch {
				case errors.Is(err, fs.ErrNotExist):
					tag = blobstore.Absent
				case err != nil:
					s.Errorf("Read: %v", err)
					return
				default:
					count, _ = strconv.Atoi(string(data))
				}
				_, err = store.CompareAndSwap(s.ctx, "counter", tag, []byte(strconv.Itoa(count+1)))
				switch {
				case err == nil:
					n++
				case !errors.Is(err, blobstore.ErrChanged):
					s.Errorf("CompareAndSwap: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	s.want("counter", strconv.Itoa(racers*each))
}

func readingBesideWriting(s *suite) {
	version := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 5000+100*(i%26)) }
	s.put("a", version(0))
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 30 {
			if err := s.store.Put(s.ctx, "a", writing(version(i))); err != nil {
				s.Errorf("Put: %v", err)
			}
		}
		done.Store(true)
	})
	for last := false; !last; {
		last = done.Load()
		data, _, err := s.another.Read(s.ctx, "a")
		if err != nil {
			s.Errorf("Read: %v", err)
			break
		}
		if i := int(data[0] - 'a'); string(data) != version(i) {
			s.Errorf("Read returned a blob that nobody wrote, of %d bytes", len(data))
		}
	}
	wg.Wait()
}

func tooLarge(s *suite) {
	big := make([]byte, blobstore.MaxData+1)
	s.failed(s.store.PutIfAbsent(s.ctx, "big", big), "big", blobstore.ErrTooLarge)
	_, err := s.store.CompareAndSwap(s.ctx, "big", blobstore.Absent, big)
	s.failed(err, "big", blobstore.ErrTooLarge)
	s.absent("big")
}
