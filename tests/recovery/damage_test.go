package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/streamingcontext"
)

// last is the last batch before the damage, and behind the last one after it.
const last, behind = 12, 16

// undisturbed returns what the program shows where nothing happens to it.
func undisturbed(t *testing.T) map[int64][]string {
	t.Helper()
	s := site{t.TempDir()}
	if err := newProgram(s).run(t.Context(), 1, behind, streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := s.shown()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != behind {
		t.Fatalf("%d batches have rows", len(rows))
	}
	return rows
}

// endings are the ways in which the program has ended before the damage.
var endings = []struct {
	name string
	set  func(*program)
	stop streamingcontext.StopOptions
}{
	{"with nothing open", func(*program) {}, streamingcontext.StopOptions{}},
	{"with batches begun", func(p *program) { p.holdJobs = (last - 2) * 1000 }, streamingcontext.StopOptions{}},
	{"with batches prepared", func(p *program) { p.holdCommits = (last - 2) * 1000 }, streamingcontext.StopOptions{}},
}

// A damage is something done to a file.
type damage struct {
	name string
	do   func(t *testing.T, s site)
}

// damages returns what is done to a file of a site, of which older is a copy of an earlier time.
func damages(t *testing.T, s, older site, file string, all []string) (list []damage) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) damage {
		return damage{name, func(t *testing.T, s site) {
			if err := os.WriteFile(filepath.Join(s.root, file), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}}
	}
	size := len(data)
	for _, at := range distinct(0, 1, size/2, size&^4095, size-1) {
		if at < size {
			list = append(list, write(fmt.Sprintf("cut to %d of %d", at, size), data[:at]))
		}
	}
	var bits []int
	for at := 512; at < size && size > 3<<10; at += 1024 {
		bits = append(bits, at)
	}
	if len(bits) == 0 && size > 0 {
		bits = distinct(0, size/2, size-1)
	}
	// Of a long file, the first ones and some of the others: a page of bbolt that is free is as good as another.
	for i, at := range bits {
		if len(bits) > 24 && i%(len(bits)/12) != 0 {
			continue
		}
		flipped := bytes.Clone(data)
		flipped[at] ^= 1 << (at % 8)
		list = append(list, write(fmt.Sprintf("bit flipped at %d of %d", at, size), flipped))
	}
	list = append(list, damage{"removed", func(t *testing.T, s site) {
		if err := os.Remove(filepath.Join(s.root, file)); err != nil {
			t.Fatal(err)
		}
	}})
	for _, other := range all {
		if other == file || kind(other) != kind(file) {
			continue
		}
		if content, err := os.ReadFile(filepath.Join(s.root, other)); err == nil && !bytes.Equal(content, data) {
			list = append(list, write("swapped with "+filepath.Base(other), content))
			break
		}
	}
	if content, err := os.ReadFile(filepath.Join(older.root, file)); err == nil && !bytes.Equal(content, data) {
		list = append(list, write("an older copy", content))
	}
	return list
}

func distinct(all ...int) (out []int) {
	seen := map[int]bool{}
	for _, n := range all {
		if n >= 0 && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// kind returns what is the same for files that may be swapped: the folder below the site, and the name without its numbers.
func kind(file string) string {
	parts := strings.Split(filepath.ToSlash(file), "/")
	return strings.Join(parts[:min(2, len(parts)-1)], "/") + "/" + strings.Trim(parts[len(parts)-1], "-.0123456789abcdef")
}

// filesOf returns the files that a program has left, without those that it reads.
func (s site) filesOf(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range []string{s.dir(), s.out()} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				path, err = filepath.Rel(s.root, path)
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A verdict is what came of a damage.
type verdict string

const (
	right   verdict = "exact rows"
	refused verdict = "refused by name"
)

// goOn runs the next life of a site and says what came of it. named are words of which a refusal has one.
func goOn(t *testing.T, s site, want map[int64][]string, named ...string) verdict {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("it hangs"))
	defer cancel()
	err := newProgram(s).run(ctx, last+1, behind, streamingcontext.StopOptions{})
	if ctx.Err() != nil {
		t.Fatalf("%v: %v", context.Cause(ctx), err)
	}
	rows := map[int64][]string(nil)
	if err == nil {
		rows, err = s.shown()
	}
	if err == nil {
		if diff := cmp.Diff(rows, want); diff != "" {
			t.Errorf("another answer (-got +want):\n%s", diff)
		}
		return right
	}
	for _, name := range named {
		if strings.Contains(err.Error(), name) {
			return refused
		}
	}
	t.Errorf("the refusal names none of %q: %v", named, err)
	return refused
}

// Each file that a program has left is damaged in many ways: it shows what an undisturbed one does, or refuses by name.
func TestDamage_D4(t *testing.T) {
	want := undisturbed(t)
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			s, older := left(t, e.set, e.stop)
			kept := s.copyTo(t, filepath.Join(t.TempDir(), "kept"))
			all := s.filesOf(t)
			counts := map[verdict]int{}
			for i, file := range all {
				for j, d := range damages(t, kept, older, file, all) {
					if !*allDamages && (i+j)%8 != 0 {
						continue
					}
					t.Run(file+" "+d.name, func(t *testing.T) {
						c := kept.again(t, s)
						d.do(t, c)
						names := []string{filepath.Base(file)}
						if strings.Count(file, string(filepath.Separator)) > 2 { // not the site's own folder
							names = append(names, filepath.Base(filepath.Dir(file))+string(filepath.Separator))
						}
						if strings.HasPrefix(file, "out") {
							names = append(names, "output rows")
						}
						counts[goOn(t, c, want, names...)]++
					})
				}
			}
			t.Logf("%d files: %v", len(all), counts)
			if counts[right] == 0 || counts[refused] == 0 {
				t.Error("one of the two never came about: the test sees nothing")
			}
		})
	}
}

// left runs a program up to the last batch, and returns its site and what that was four batches earlier.
func left(t *testing.T, set func(*program), stop streamingcontext.StopOptions) (s, older site) {
	t.Helper()
	s = site{t.TempDir()}
	if err := newProgram(s).run(t.Context(), 1, 8, streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	older = s.copyTo(t, t.TempDir())
	p := newProgram(s)
	set(p)
	if err := p.run(t.Context(), 9, last, stop); err != nil {
		t.Fatal(err)
	}
	return s, older
}
