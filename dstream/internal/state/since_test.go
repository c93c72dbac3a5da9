package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/rdd/codec"
)

// file is what one WriteSince has put.
type file struct {
	frames [][]byte
	span   codec.Span
}

func write[K comparable, S any](t interface{ Fatal(...any) }, v, base *Version[K, S], from int64, few int) file {
	var f file
	span, err := v.writeSince(base, from, few, func(frame []byte) error {
		f.frames = append(f.frames, slices.Clone(frame))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.span = span
	return f
}

// restore makes a version from files, the oldest first, and returns how many of them it took.
func restore[K comparable, S any](files []file) (*Version[K, S], int, error) {
	var spans []codec.Span
	for i := len(files) - 1; i >= 0; i-- {
		spans = append(spans, files[i].span)
	}
	back, ok := codec.Reach(spans)
	if !ok {
		return nil, 0, errors.New("the files do not reach all entries")
	}
	files = files[len(files)-1-back:]
	var none *Version[K, S]
	v, err := none.Restored(len(files), func(i int, yield func([]byte) error) error {
		for _, frame := range files[i].frames {
			if err := yield(slices.Clone(frame)); err != nil { // it is not to be kept
				return err
			}
		}
		return nil
	})
	return v, len(files), err
}

// entriesOf are all entries, removed ones as well.
func entriesOf[K comparable, S any](v *Version[K, S]) []pair[K, *S] {
	var out []pair[K, *S]
	for i := range v.size {
		s := v.find(v.core.table.Key(i))
		p := pair[K, *S]{Key: v.core.table.Key(i)}
		if !s.gone {
			p.State = &s.state
		}
		out = append(out, p)
	}
	return out
}

// Updates, removals, files and restarts, compared with a map: the files that are needed are always few and together not much more
// than the table, and what is restored has the same entries in the same order.
func TestFilesOfChangesAgreeWithMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hasher[string](t)
		var v, base *Version[string, int]
		model := map[string]int{}
		var files []file
		keys := rapid.IntRange(1, 400).Draw(t, "keys")
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 99).Draw(t, "step"); {
			case step < 45:
				u := v.Update(h, 0)
				for range rapid.IntRange(0, 12).Draw(t, "changes") {
					k := fmt.Sprint(rapid.IntRange(0, keys).Draw(t, "key"))
					if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
						u.Delete(k)
						delete(model, k)
					} else {
						s := rapid.Int().Draw(t, "state")
						u.Put(k, s)
						model[k] = s
					}
				}
				before := v
				v = u.Done()
				if rapid.IntRange(0, 20).Draw(t, "again") == 0 { // the same batch computed twice
					again := before.Update(h, 0)
					for _, k := range slices.Sorted(maps.Keys(model)) {
						again.Put(k, model[k])
					}
					again.Each(before, func(k string) bool { _, ok := model[k]; return ok })
					v = again.Done()
				}
			case step < 95:
				var from int64
				if len(files) > 0 {
					from = files[len(files)-1].span.To
				}
				next := v
				if rapid.IntRange(0, 3).Draw(t, "late") == 0 && v != nil { // an update goes on before the file is written
					u := v.Update(h, 0)
					u.Put("later", 1)
					u.Done()
				}
				files = append(files, write(t, next, base, from, 64))
				base = v
				got, needed, err := restore[string, int](files)
				if err != nil {
					t.Fatal(err)
				}
				total := 0
				for _, f := range files[len(files)-needed:] {
					total += int(f.span.To - f.span.From)
				}
				if needed > aRound+2 || total > 3*int(files[len(files)-1].span.Entries)+200 {
					t.Fatalf("%d files with %d entries are needed of %+v", needed, total, files[len(files)-1].span)
				}
				files = files[len(files)-needed:]
				if v == nil || v.core == nil {
					if got.Len() != 0 {
						t.Fatalf("%d keys, want none", got.Len())
					}
					continue
				}
				if !slices.EqualFunc(entriesOf(got), entriesOf(v), func(a, b pair[string, *int]) bool {
					return a.Key == b.Key && (a.State == nil) == (b.State == nil) && (a.State == nil || *a.State == *b.State)
				}) || got.Len() != v.Len() {
					t.Fatalf("got %v, want %v", contents(got), contents(v))
				}
			default: // a restart
				if len(files) == 0 {
					continue
				}
				got, _, err := restore[string, int](files)
				if err != nil {
					t.Fatal(err)
				}
				v, base, model = got, got, map[string]int{}
				for _, p := range contents(got) {
					model[p.Key] = p.State
				}
			}
			if v.Len() != len(model) {
				t.Fatalf("%d keys, want %d", v.Len(), len(model))
			}
		}
	})
}

// Each removes the keys of a version that keep refuses.
func (u *Update[K, S]) Each(v *Version[K, S], keep func(k K) bool) {
	v.Each(func(k K, _ *S) bool {
		if !keep(k) {
			u.Delete(k)
		}
		return true
	})
}

// grown returns a version with so many keys.
func grown(t testing.TB, n int) *Version[int, int] {
	u := Rebuild[int, int](hasher[int](t), n)
	for k := range n {
		u.Put(k, k)
	}
	return u.Done()
}

func touch(t testing.TB, v *Version[int, int], from, to int) *Version[int, int] {
	u := v.Update(hasher[int](t), to-from)
	for k := from; k < to; k++ {
		s, _ := u.Get(k)
		u.Put(k, s+1)
	}
	return u.Done()
}

func TestAFileHoldsWhatChangedAndASlice(t *testing.T) {
	const n = 64_000
	v := grown(t, n)
	first := write(t, v, nil, 0, fewEntries)
	if !first.span.All() {
		t.Fatalf("the first file has %+v", first.span)
	}
	next := touch(t, touch(t, v, 30_000, 30_500), 100, 140) // 100 to 140 lie in the slice
	second := write(t, next, v, first.span.To, fewEntries)
	if want := (codec.Span{Entries: n, To: 1000}); second.span != want {
		t.Errorf("the second has %+v, want %+v", second.span, want)
	}
	if a, b := length(first), length(second); b*30 > a {
		t.Errorf("%d bytes, and %d for what changed", a, b)
	}
	third := write(t, next, next, second.span.To, fewEntries)
	if want := (codec.Span{Entries: n, From: 1000, To: 2000}); third.span != want {
		t.Errorf("the third has %+v, want %+v", third.span, want)
	}
	got, _, err := restore[int, int]([]file{first, second, third})
	if err != nil || !same(got, next) {
		t.Errorf("err %v, or other entries", err)
	}
	// A quarter and more of the entries: all of them.
	if f := write(t, touch(t, next, 0, n/4+1), next, third.span.To, fewEntries); !f.span.All() {
		t.Errorf("where much changed there is only %+v", f.span)
	}
}

func length(f file) (n int) {
	for _, frame := range f.frames {
		n += len(frame)
	}
	return n
}

func TestAFileHoldsAllWhereTheBaseIsOfAnotherTable(t *testing.T) {
	v := grown(t, 10_000)
	newer := touch(t, v, 0, 10)
	again := touch(t, v, 0, 10) // a copy
	swept := v.Update(hasher[int](t), 0)
	for k := range 9_000 {
		swept.Delete(k)
	}
	few := swept.Done()
	for name, f := range map[string]file{
		"computed again": write(t, again, newer, 0, 0),
		"from before":    write(t, again, v, 0, 0),
		"backwards":      write(t, v, newer, 0, 0),
		"swept":          write(t, few, v, 0, 0),
		"few":            write(t, few, few, 0, fewEntries),
	} {
		if !f.span.All() || f.span.Entries == 0 {
			t.Errorf("%s: only %+v", name, f.span)
		}
	}
	if f := write(t, newer, v, 0, 0); f.span.All() {
		t.Error("a file of what followed in the table holds all")
	}
	var none *Version[int, int]
	got, _, err := restore[int, int]([]file{write(t, none, nil, 0, 0)})
	if err != nil || got.Len() != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

// However fast a table grows, few files are needed, and they have at most about twice its entries.
func TestFewFilesAreNeededHoweverATableGrows(t *testing.T) {
	for _, growth := range []int{0, 1, 60, 500, 1500} {
		t.Run(fmt.Sprint("growth=", growth), func(t *testing.T) {
			v := grown(t, 10_000)
			files := []file{write(t, v, nil, 0, 0)}
			for i := range 300 {
				next := touch(t, touch(t, v, i, i+50), v.Len(), v.Len()+growth)
				f := write(t, next, v, files[len(files)-1].span.To, 0)
				v, files = next, append(files, f)
				var spans []codec.Span
				for j := range files {
					spans = append(spans, files[len(files)-1-j].span)
				}
				back, ok := codec.Reach(spans)
				if !ok || back > aRound+1 {
					t.Fatalf("file %d reaches %d back (%t)", i, back, ok)
				}
				files = files[len(files)-1-back:]
			}
			got, _, err := restore[int, int](files)
			if err != nil || !same(got, v) {
				t.Errorf("err %v, or other entries", err)
			}
		})
	}
}

// A sequence of files from which one is taken out, or of which two are exchanged, is not what was written: where entries are
// missing that is found out.
func TestFramesThatAreNotOfOneRecordAreRefused(t *testing.T) {
	v := grown(t, 1000)
	all := write(t, v, nil, 0, 0)
	next := write(t, touch(t, v, 0, 10), v, 1000, 0)
	try := func(files ...file) error {
		var none *Version[int, int]
		_, err := none.Restored(len(files), func(i int, yield func([]byte) error) error {
			for _, frame := range files[i].frames {
				if err := yield(frame); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	if err := try(all, next); err != nil {
		t.Fatal(err)
	}
	small := write(t, grown(t, 100), nil, 0, 0)
	other := write(t, touch(t, grown(t, 2000), 0, 1), nil, 0, 0)
	for i := range other.frames { // its keys differ
		if other.frames[i][0] == frameRange {
			other.frames = other.frames[:i]
			break
		}
	}
	for name, err := range map[string]error{
		"without the first":  try(next),
		"without a head":     try(file{frames: all.frames[1:]}),
		"two heads":          try(file{frames: [][]byte{all.frames[0], all.frames[0]}}),
		"no frames":          try(file{}),
		"no files":           try(),
		"fewer entries":      try(all, small),
		"more than there is": try(all, other),
		"another kind":       try(file{frames: [][]byte{all.frames[0], {9}}}),
		"an empty frame":     try(file{frames: [][]byte{all.frames[0], {}}}),
	} {
		if !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	v := grown(f, 300)
	for _, file := range []file{write(f, v, nil, 0, 0), write(f, touch(f, v, 5, 9), v, 300, 0)} {
		for _, frame := range file.frames {
			f.Add(file.frames[0], frame)
		}
	}
	f.Fuzz(func(t *testing.T, head, frame []byte) {
		r, err := NewRestoring[int, int]()
		if err != nil {
			t.Fatal(err)
		}
		r.NextFile()
		for _, b := range [][]byte{head, frame} {
			if err := r.Frame(b); err != nil {
				if !errors.Is(err, codec.ErrCorrupt) {
					t.Fatal(err)
				}
				return
			}
		}
		v, err := r.Version()
		if err != nil {
			if !errors.Is(err, codec.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		got, _, err := restore[int, int]([]file{write(t, v, nil, 0, 0)})
		if err != nil || !same(got, v) {
			t.Fatalf("err %v, or other entries", err)
		}
	})
}
