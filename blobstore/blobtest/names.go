package blobtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/blobstore"
)

func listing(s *suite) {
	names := []string{"a/1", "a/10", "a/2", "a-b", "a.b/c", "ab", "b/x/y/z", "b/x.y", "Z", "0", "é/1", "~"}
	for _, name := range names {
		s.put(name, name)
	}
	slices.Sort(names)
	if got := s.names(""); !slices.Equal(got, names) {
		s.Errorf("names %q, want %q", got, names)
	}
	for prefix, want := range map[string][]string{
		"a/": {"a/1", "a/10", "a/2"}, "a/1": {"a/1", "a/10"}, "b/x": {"b/x.y", "b/x/y/z"}, "é": {"é/1"}, "none": {}, "b/x/": {"b/x/y/z"},
		"a": {"a-b", "a.b/c", "a/1", "a/10", "a/2", "ab"},
	} {
		if got := s.names(prefix); !slices.Equal(got, want) {
			s.Errorf("names with %q: %q, want %q", prefix, got, want)
		}
	}
	for _, info := range s.list("", "", 0) {
		if info.Size != int64(len(info.Name)) {
			s.Errorf("%q has %d bytes, want %d", info.Name, info.Size, len(info.Name))
		}
	}
}

func (s *suite) list(prefix, after string, limit int) []blobstore.Info {
	s.Helper()
	page, err := s.store.List(s.ctx, prefix, after, limit)
	if err != nil {
		s.Fatalf("List(%q, %q, %d): %v", prefix, after, limit, err)
	}
	return page
}

func paging(s *suite) {
	const n = 23
	name := func(i int) string { return fmt.Sprintf("p/%03d", i) }
	for i := range n {
		s.put(name(i), "")
	}
	s.put("a", "")
	s.put("q", "")
	for _, limit := range []int{1, 4, 23, 100} {
		after, got := "", []string{}
		for {
			page := s.list("p/", after, limit)
			if len(page) == 0 {
				break
			}
			if len(page) > limit {
				s.Fatalf("page of %d blobs, want at most %d", len(page), limit)
			}
			for _, info := range page {
				got = append(got, info.Name)
			}
			after = got[len(got)-1]
		}
		if len(got) != n || !slices.IsSorted(got) || got[0] != name(0) || got[n-1] != name(n-1) {
			s.Errorf("pages of %d: %q", limit, got)
		}
	}
	for after, want := range map[string]string{name(5): name(6), "p/0055": name(6), "": name(0), "b": name(0), "p/": name(0)} {
		if page := s.list("p/", after, 1); len(page) != 1 || page[0].Name != want {
			s.Errorf("after %q comes %v, want %q", after, page, want)
		}
	}
	if page := s.list("p/", "q", 1); len(page) != 0 {
		s.Errorf("after the prefix comes %v", page)
	}
	if err := blobstore.RemoveAll(s.ctx, s.store, "p/0"); err != nil {
		s.Fatal(err)
	}
	if got := s.names(""); !slices.Equal(got, []string{"a", "q"}) {
		s.Errorf("names %q after RemoveAll, want a and q", got)
	}
}

// odd are names that some system between here and a disk may take for something else.
var odd = []string{
	"a b", " a", "a+b", "a%2Fb", "a%20b", "a%b", "a&b=c", "a?b", "a#b", "a:b", "a*b", `a"b`, "a'b", "a<b>", "a|b", "a;b", "a,b", "a@b$",
	"a(b)", "[a]{b}", "a^b`", "a..b", "...", ".a", "a.", "a ", "-a", "~a", "grüße", "日本", "👍", "%", "CON", "a!", "=a", "x/%2F/..x", "x/ /y", "x/.y/z",
	"tmp/%tmp", "lock", "a\u00a0b",
}

func oddNames(s *suite) {
	names := append(slices.Clone(odd), strings.Repeat("n", blobstore.MaxElement),
		strings.TrimSuffix(strings.Repeat(strings.Repeat("e", 99)+"/", 5), "/"))
	for _, name := range names {
		if err := s.store.PutIfAbsent(s.ctx, name, []byte(name)); err != nil {
			s.Errorf("PutIfAbsent: %v", err)
		}
	}
	for _, name := range names {
		s.want(name, name)
	}
	slices.Sort(names)
	if got := s.names(""); !slices.Equal(got, names) {
		s.Errorf("names\n%q, want\n%q", got, names)
	}
	for i := range len(names) - 1 {
		if page := s.list("", names[i], 1); len(page) != 1 || page[0].Name != names[i+1] {
			s.Errorf("after %q comes %v, want %q", names[i], page, names[i+1])
		}
	}
	if err := s.store.Remove(s.ctx, names...); err != nil {
		s.Fatalf("Remove: %v", err)
	}
	if got := s.names(""); len(got) != 0 {
		s.Errorf("names %q after Remove", got)
	}
}

func badNames(s *suite) {
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a/..", "a\x00b", "a\nb", "\xff", `a\b`, "\x7f", "\u0085",
		blobstore.Reserved + "x", blobstore.Reserved + "x/y",
		strings.Repeat("n", blobstore.MaxElement+1), strings.Repeat("n/", blobstore.MaxName/2) + "n",
	} {
		_, _, readErr := s.store.Read(s.ctx, name)
		_, _, openErr := s.store.Open(s.ctx, name)
		_, swapErr := s.store.CompareAndSwap(s.ctx, name, blobstore.Absent, nil)
		for call, err := range map[string]error{
			"Put": s.store.Put(s.ctx, name, writing("x")), "PutIfAbsent": s.store.PutIfAbsent(s.ctx, name, nil),
			"CompareAndSwap": swapErr, "Read": readErr, "Open": openErr, "Remove": s.store.Remove(s.ctx, "fine", name),
		} {
			var bad *blobstore.NameError
			if !errors.As(err, &bad) || bad.Name != name {
				s.Errorf("%s(%q) = %v, want a *NameError", call, name, err)
			}
		}
	}
	if got := s.names(""); len(got) != 0 {
		s.Errorf("names %q, want none", got)
	}
}

func removing(s *suite) {
	if err := s.store.Remove(s.ctx); err != nil {
		s.Errorf("Remove of nothing: %v", err)
	}
	for _, name := range []string{"a", "dir/b", "dir/c"} {
		s.put(name, name)
	}
	if err := s.store.Remove(s.ctx, "a", "not-there", "dir/b", "none/at/all"); err != nil {
		s.Fatalf("Remove: %v", err)
	}
	s.absent("a")
	s.absent("dir/b")
	s.want("dir/c", "dir/c")
	if err := s.store.Remove(s.ctx, "a"); err != nil {
		s.Errorf("Remove again: %v", err)
	}
	if err := s.store.PutIfAbsent(s.ctx, "a", []byte("anew")); err != nil {
		s.Errorf("PutIfAbsent of a removed name: %v", err)
	}
	s.want("a", "anew")
}

func contextEnded(s *suite) {
	s.put("a", "a")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, _, readErr := s.store.Read(ctx, "a")
	_, _, openErr := s.store.Open(ctx, "a")
	_, listErr := s.store.List(ctx, "", "", 0)
	_, swapErr := s.store.CompareAndSwap(ctx, "b", blobstore.Absent, nil)
	for call, err := range map[string]error{
		"Put": s.store.Put(ctx, "b", writing("x")), "PutIfAbsent": s.store.PutIfAbsent(ctx, "b", nil), "CompareAndSwap": swapErr,
		"Read": readErr, "Open": openErr, "List": listErr, "Remove": s.store.Remove(ctx, "a"),
	} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, blobstore.ErrUnknown) {
			s.Errorf("%s = %v, want context.Canceled and a known outcome", call, err)
		}
	}
	s.want("a", "a")
	s.absent("b")
}

func shared(s *suite, r Reopener) {
	s.put("a", "a")
	other := *s
	other.store = r.Reopen(s.T, s.store)
	tag := other.want("a", "a")
	s.failed(other.store.PutIfAbsent(s.ctx, "a", nil), "a", blobstore.ErrExists)
	if _, err := s.store.CompareAndSwap(s.ctx, "a", tag, []byte("b")); err != nil {
		s.Errorf("CompareAndSwap with the other's tag: %v", err)
	}
	other.want("a", "b")
	if got := other.names(""); !slices.Equal(got, []string{"a"}) {
		s.Errorf("names %q of the other, want a", got)
	}
	if err := other.store.Remove(s.ctx, "a"); err != nil {
		s.Error(err)
	}
	s.absent("a")
}
