package s3store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
)

// pattern returns n bytes that differ from part to part.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>16 ^ i>>8 ^ i*7)
	}
	return b
}

func writing(data []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// want checks what a name holds.
func want(t *testing.T, s blobstore.Store, name string, data []byte) {
	t.Helper()
	r, size, err := s.Open(t.Context(), name)
	if err != nil {
		t.Errorf("Open: %v", err)
		return
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, data) || size != int64(len(data)) {
		t.Errorf("%s holds %d bytes, says %d, want %d: %v", name, len(got), size, len(data), err)
	}
}

func TestParts(t *testing.T) {
	const part = 5 << 20
	opts := s3test.Bucket(t, *server)
	s := open(t, opts)
	for _, size := range []int{part - 1, part, part + 1, 2 * part, 2*part + 12345} {
		t.Run(fmt.Sprintf("blob_of_%d_bytes", size), func(t *testing.T) {
			data := pattern(size)
			if err := s.Put(t.Context(), "large", writing(data)); err != nil {
				t.Fatal(err)
			}
			want(t, s, "large", data)
			if got, _, err := s.Read(t.Context(), "large"); err != nil || !bytes.Equal(got, data) {
				t.Errorf("Read = %d bytes, %v", len(got), err)
			}
		})
	}
	t.Run("a_put_that_fails_leaves_no_parts", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		wrong := errors.New("wrong")
		err := s.Put(t.Context(), "a", func(w io.Writer) error {
			if err := writing(pattern(2*part + 1))(w); err != nil {
				return err
			}
			if server.Uploads() != 1 {
				t.Errorf("%d uploads under way, want 1", server.Uploads())
			}
			return wrong
		})
		if !errors.Is(err, wrong) || server.Uploads() != 0 || len(server.Keys()) != 0 {
			t.Errorf("Put = %v, left %d uploads and %q", err, server.Uploads(), server.Keys())
		}
	})
}

// script calls everything once or more. Whatever becomes of one request, all of it must succeed.
func script(t *testing.T, s blobstore.Store) {
	t.Helper()
	ctx := t.Context()
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	ok("Put", s.Put(ctx, "a", writing([]byte("a"))))
	ok("PutIfAbsent", s.PutIfAbsent(ctx, "b", []byte("b")))
	tag, err := s.CompareAndSwap(ctx, "c", blobstore.Absent, []byte("c1"))
	ok("CompareAndSwap", err)
	tag, err = s.CompareAndSwap(ctx, "c", tag, []byte("c2"))
	ok("CompareAndSwap", err)
	_, err = s.CompareAndSwap(ctx, "c", tag, []byte("c3"))
	ok("CompareAndSwap", err)
	if err := s.PutIfAbsent(ctx, "b", []byte("other")); !errors.Is(err, blobstore.ErrExists) {
		t.Errorf("PutIfAbsent = %v, want ErrExists", err)
	}
	if _, err := s.CompareAndSwap(ctx, "c", tag, []byte("c4")); !errors.Is(err, blobstore.ErrChanged) {
		t.Errorf("CompareAndSwap = %v, want ErrChanged", err)
	}
	want(t, s, "a", []byte("a"))
	want(t, s, "b", []byte("b"))
	want(t, s, "c", []byte("c3"))
	if _, _, err := s.Read(ctx, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read = %v, want fs.ErrNotExist", err)
	}
	ok("Remove", s.Remove(ctx, "a"))
	ok("Put", s.Put(ctx, "d", writing(nil)))
	ok("Remove", s.Remove(ctx, "b", "c"))
	var names []string
	for info, err := range blobstore.All(ctx, s, "", "") {
		ok("All", err)
		names = append(names, info.Name)
	}
	if fmt.Sprint(names) != "[d]" {
		t.Errorf("names %q, want d", names)
	}
}

// large puts and reads a blob in two parts.
func large(t *testing.T, s blobstore.Store) {
	t.Helper()
	data := pattern(5<<20 + 1000)
	if err := s.Put(t.Context(), "large", writing(data)); err != nil {
		t.Errorf("Put: %v", err)
	}
	want(t, s, "large", data)
}

func TestAnyRequestMayFailOnce(t *testing.T) {
	for _, fault := range []s3test.Fault{s3test.Unavailable, s3test.Conflict, s3test.Dropped, s3test.Lost, s3test.Cut} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			failing(t, fault, script, 16)
		})
		t.Run(fault.String()+"_in_parts", func(t *testing.T) {
			t.Parallel()
			failing(t, fault, large, 5)
		})
	}
}

// failing lets the first request of calls fail, then the second and so on; there are some least of them.
func failing(t *testing.T, fault s3test.Fault, calls func(t *testing.T, s blobstore.Store), least int) {
	for n := 1; ; n++ {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		at := server.Calls() + n
		var hit s3test.Request
		server.SetPlan(func(r s3test.Request) s3test.Fault {
			if r.N == at {
				hit = r
				return fault
			}
			return s3test.None
		})
		calls(t, s)
		begun := hit.Method == "POST" && hit.Query == "uploads=" // an upload whose name was lost is left to the bucket's rule
		if server.Uploads() > 0 && !begun {
			t.Error("an upload was left")
		}
		if t.Failed() {
			t.Fatalf("it was %v", hit)
		}
		if hit.N == 0 {
			if n <= least {
				t.Errorf("only %d requests", n-1)
			}
			return
		}
	}
}

func TestOutcomes(t *testing.T) {
	always := func(f s3test.Fault) s3test.Plan { return func(s3test.Request) s3test.Fault { return f } }
	t.Run("an_answer_that_is_always_lost_is_unknown", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		server.SetPlan(always(s3test.Lost))
		_, err := s.CompareAndSwap(t.Context(), "c", blobstore.Absent, nil)
		for call, err := range map[string]error{
			"PutIfAbsent": s.PutIfAbsent(t.Context(), "a", nil), "Put": s.Put(t.Context(), "b", writing(nil)), "CompareAndSwap": err,
		} {
			if !errors.Is(err, blobstore.ErrUnknown) {
				t.Errorf("%s = %v, want ErrUnknown", call, err)
			}
		}
		server.SetPlan(nil)
		if err := s.PutIfAbsent(t.Context(), "a", nil); !errors.Is(err, blobstore.ErrExists) {
			t.Errorf("PutIfAbsent = %v, want ErrExists", err)
		}
	})
	t.Run("attempts_are_bounded", func(t *testing.T) {
		server, opts := s3test.Start(t)
		opts.Attempts = 3
		s := open(t, opts)
		server.SetPlan(always(s3test.Unavailable))
		before := server.Calls()
		if _, _, err := s.Read(t.Context(), "a"); err == nil || server.Calls()-before != 3 {
			t.Errorf("Read = %v after %d requests, want 3", err, server.Calls()-before)
		}
	})
	t.Run("another_that_was_faster_is_told_from_a_lost_answer", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		if err := s.PutIfAbsent(t.Context(), "a", []byte("same")); err != nil {
			t.Fatal(err)
		}
		first := true
		server.SetPlan(func(r s3test.Request) s3test.Fault {
			if first {
				first = false
				return s3test.Dropped
			}
			return s3test.None
		})
		if err := s.PutIfAbsent(t.Context(), "a", []byte("same")); !errors.Is(err, blobstore.ErrExists) || errors.Is(err, blobstore.ErrUnknown) {
			t.Errorf("PutIfAbsent = %v, want ErrExists", err)
		}
	})
	t.Run("a_refusal_is_not_repeated", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		if err := s.PutIfAbsent(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		before := server.Calls()
		if err := s.PutIfAbsent(t.Context(), "a", nil); !errors.Is(err, blobstore.ErrExists) || server.Calls() != before+1 {
			t.Errorf("PutIfAbsent = %v after %d requests", err, server.Calls()-before)
		}
	})
	t.Run("a_context_that_ends_ends_the_attempts", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		ctx, cancel := context.WithCancel(t.Context())
		server.SetPlan(func(s3test.Request) s3test.Fault { cancel(); return s3test.Dropped })
		if err := s.PutIfAbsent(ctx, "a", nil); !errors.Is(err, context.Canceled) || !errors.Is(err, blobstore.ErrUnknown) {
			t.Errorf("PutIfAbsent = %v", err)
		}
	})
}

func TestDamage(t *testing.T) {
	corrupt := func(t *testing.T, s *s3store.Store, name string) {
		t.Helper()
		_, _, rerr := s.Read(t.Context(), name)
		r, _, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		_, oerr := io.Copy(io.Discard, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for call, err := range map[string]error{"Read": rerr, "Open": oerr} {
			var c *blobstore.CorruptError
			if !errors.As(err, &c) || c.Name != name {
				t.Errorf("%s = %v, want a CorruptError of %s", call, err, name)
			}
		}
	}
	server, opts := s3test.Start(t)
	s := open(t, opts)
	if err := errors.Join(s.PutIfAbsent(t.Context(), "small", []byte("small")), s.Put(t.Context(), "put", writing([]byte("put"))),
		s.Put(t.Context(), "large", writing(pattern(11<<20)))); err != nil {
		t.Fatal(err)
	}
	t.Run("in_the_store", func(t *testing.T) {
		server.Damage("app/1/small", 2)
		server.Damage("app/1/put", 0)
		corrupt(t, s, "small")
		corrupt(t, s, "put")
		for _, at := range []int{0, 5<<20 - 1, 5 << 20, 11<<20 - 1} {
			server.Damage("app/1/large", at)
			corrupt(t, s, "large")
			server.Damage("app/1/large", at) // and back
		}
		want(t, s, "large", pattern(11<<20))
	})
	t.Run("on_the_way", func(t *testing.T) {
		server.SetPlan(func(s3test.Request) s3test.Fault { return s3test.Garbled })
		corrupt(t, s, "large")
		server.SetPlan(nil)
	})
	t.Run("a_blob_that_is_replaced_while_it_is_read_is_not_mixed", func(t *testing.T) {
		if err := s.Put(t.Context(), "put", writing(pattern(1<<20))); err != nil {
			t.Fatal(err)
		}
		server.SetPlan(func(s3test.Request) s3test.Fault { return s3test.Cut })
		r, _, err := s.Open(t.Context(), "put")
		if err != nil {
			t.Fatal(err)
		}
		server.SetPlan(nil)
		if err := s.Put(t.Context(), "put", writing(make([]byte, 1<<20))); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err == nil || n >= 1<<20 {
			t.Errorf("read %d bytes, %v", n, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOpen(t *testing.T) {
	t.Run("a_store_that_ignores_conditions_is_refused", func(t *testing.T) {
		server, opts := s3test.Start(t)
		server.IgnoreConditions()
		var unsupported *blobstore.UnsupportedError
		if _, err := s3store.Open(t.Context(), opts); !errors.As(err, &unsupported) {
			t.Errorf("Open = %v, want an UnsupportedError", err)
		}
		if keys := server.Keys(); len(keys) != 0 {
			t.Errorf("left %q", keys)
		}
	})
	t.Run("a_bucket_that_is_not_there_is_named", func(t *testing.T) {
		_, opts := s3test.Start(t)
		opts.Bucket = "other"
		if _, err := s3store.Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "other") || errors.Is(err, blobstore.ErrChanged) {
			t.Errorf("Open = %v", err)
		}
	})
	for name, change := range map[string]func(o *s3store.Options){
		"plain_http_to_another_machine": func(o *s3store.Options) { o.Endpoint = "http://example.com" },
		"no_scheme":                     func(o *s3store.Options) { o.Endpoint = "127.0.0.1:9000" },
		"keys_in_the_url":               func(o *s3store.Options) { o.Endpoint = "https://secret@example.com" },
		"a_path_in_the_url":             func(o *s3store.Options) { o.Endpoint = "https://example.com/bucket" },
		"no_bucket":                     func(o *s3store.Options) { o.Bucket = "" },
		"no_keys":                       func(o *s3store.Options) { o.SecretKey = "" },
		"small_parts":                   func(o *s3store.Options) { o.PartSize = 1 << 20 },
		"a_bad_prefix":                  func(o *s3store.Options) { o.Prefix = "a//b" },
	} {
		t.Run(name+"_is_refused", func(t *testing.T) {
			opts := s3store.Options{Endpoint: "https://example.com", Bucket: "bucket", AccessKey: "key", SecretKey: "secret"}
			change(&opts)
			_, err := s3store.Open(t.Context(), opts)
			if err == nil || strings.Contains(err.Error(), "secret@") {
				t.Errorf("Open = %v", err)
			}
		})
	}
	t.Run("no_text_holds_the_keys", func(t *testing.T) {
		_, opts := s3test.Start(t)
		opts.AccessKey, opts.SecretKey, opts.SessionToken = "AKEY", "HIDDEN", "TOKEN"
		text := opts.String() + open(t, opts).String()
		for _, key := range []string{"AKEY", "HIDDEN", "TOKEN"} {
			if strings.Contains(text, key) {
				t.Errorf("%s holds a key", text)
			}
		}
	})
	t.Run("stores_with_other_prefixes_do_not_meet", func(t *testing.T) {
		_, opts := s3test.Start(t)
		one := open(t, opts)
		opts.Prefix = "app/10"
		two := open(t, opts)
		if err := errors.Join(one.PutIfAbsent(t.Context(), "a", nil), two.PutIfAbsent(t.Context(), "a", nil)); err != nil {
			t.Fatal(err)
		}
		if page, err := one.List(t.Context(), "", "", 0); err != nil || len(page) != 1 {
			t.Errorf("List = %v, %v", page, err)
		}
	})
	t.Run("more_than_a_thousand_are_removed", func(t *testing.T) {
		server, opts := s3test.Start(t)
		s := open(t, opts)
		var names []string
		for i := range 1203 {
			names = append(names, fmt.Sprintf("n/%04d", i))
			if err := s.PutIfAbsent(t.Context(), names[i], nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := blobstore.RemoveAll(t.Context(), s, "n/"); err != nil {
			t.Fatal(err)
		}
		if keys := server.Keys(); len(keys) != 0 {
			t.Errorf("left %d objects", len(keys))
		}
	})
}

func TestReadOnlySendsNothingThatWrites(t *testing.T) {
	server, opts := s3test.Start(t)
	if err := open(t, opts).PutIfAbsent(t.Context(), "a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	server.SetPlan(func(r s3test.Request) s3test.Fault {
		if r.Method != "GET" && r.Method != "HEAD" {
			t.Errorf("request %v", r)
		}
		return s3test.None
	})
	opts.ReadOnly = true
	s := open(t, opts)
	data, tag, err := s.Read(t.Context(), "a")
	if err != nil || string(data) != "a" {
		t.Errorf("Read = %q, %v", data, err)
	}
	_, swapped := s.CompareAndSwap(t.Context(), "a", tag, []byte("b"))
	for call, err := range map[string]error{
		"Put": s.Put(t.Context(), "b", writing(nil)), "PutIfAbsent": s.PutIfAbsent(t.Context(), "a", nil), "Remove": s.Remove(t.Context(), "a"), "CompareAndSwap": swapped,
	} {
		var unsupported *blobstore.UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("%s = %v, want an UnsupportedError", call, err)
		}
	}
}
