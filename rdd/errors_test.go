package rdd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// here is the file and line of its caller, as call sites name it.
func here() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// Every function an operator takes is named when it panics: operator, call, partition, record, stack.
func TestPanicOfUserFunction(t *testing.T) {
	// Partition 1 of two holds the records 3000..5999; the one at fault is 4321, past the first chunk.
	const bad, offset = 4321, 1321
	boom := func(x int64) bool {
		if x == bad {
			panic("boom")
		}
		return true
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		in := Range(c, 0, 6000, 1, 2)
		pairs := Map(in, func(x int64) Pair[int64, int64] { return kv(x%2, x) })
		single := NumPartitions(1)
		for _, x := range []struct {
			op     string
			offset int64
			run    func() (string, error)
		}{
			{"map", offset, func() (string, error) {
				r, at := Map(in, boom), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"tryMap", offset, func() (string, error) {
				r, at := TryMap(in, func(x int64) (bool, error) { return boom(x), nil }), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"filter", offset, func() (string, error) {
				r, at := in.Filter(boom), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"flatMap", offset, func() (string, error) {
				r, at := FlatMap(in, func(x int64) []int64 { boom(x); return []int64{x, x, x} }), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"flatMap", offset, func() (string, error) {
				r, at := FlatMapAppend(in, func(x int64, out []int64) []int64 { boom(x); return append(out, x, x) }), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"mapChunks", offset / chunkSize * chunkSize, func() (string, error) {
				f := func(in, out []int64) ([]int64, error) {
					for _, x := range in {
						boom(x)
					}
					return out, nil
				}
				r, at := MapChunks(in, f), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"mapPartitions", -1, func() (string, error) {
				f := func(in iter.Seq[int64]) iter.Seq[int64] {
					return func(yield func(int64) bool) {
						for x := range in {
							if boom(x); !yield(x) {
								return
							}
						}
					}
				}
				r, at := MapPartitions(in, f), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"mapValues", offset, func() (string, error) {
				r, at := MapValues(pairs, boom), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"flatMapValues", offset, func() (string, error) {
				r, at := FlatMapValues(pairs, func(x int64) []int64 { boom(x); return []int64{x} }), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"keyBy", offset, func() (string, error) {
				r, at := KeyBy(in, boom), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"reduceByKey", offset, func() (string, error) {
				r, at := ReduceByKey(pairs, func(a, b int64) int64 { boom(b); return a }, single), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"combineByKey", offset, func() (string, error) {
				id := func(a, b int64) int64 { boom(b); return a }
				r, at := CombineByKey(pairs, func(v int64) int64 { return v }, id, id, single), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"aggregateByKey", offset, func() (string, error) {
				r, at := AggregateByKey(pairs, 0, func(a, b int64) int64 { boom(b); return a }, add[int64], single), here()
				return at, errOf(r.Count(t.Context()))
			}},
			{"sortBy", offset, func() (string, error) {
				r, err := SortBy(t.Context(), in, func(x int64) int64 { boom(x); return x }, SortPartitions(1))
				at := hereBefore(1)
				if err == nil {
					err = errOf(r.Count(t.Context()))
				}
				return at, err
			}},
			{"range", offset, func() (string, error) { return in.Site(), in.Foreach(t.Context(), func(x int64) { boom(x) }) }},
			{"range", offset, func() (string, error) {
				return in.Site(), errOf(in.Reduce(t.Context(), func(a, b int64) int64 { boom(b); return a }))
			}},
			{"range", -1, func() (string, error) {
				return in.Site(), in.ForeachPartition(t.Context(), func(_ context.Context, _ int, rows iter.Seq[int64]) error {
					for x := range rows {
						boom(x)
					}
					return nil
				})
			}},
		} {
			t.Run(x.op, func(t *testing.T) {
				site, err := x.run()
				var user *UserError
				if !errors.As(err, &user) {
					t.Fatalf("%v, want a UserError", err)
				}
				if user.Op != x.op || user.Site != site || user.Partition != 1 || user.Offset != x.offset {
					t.Errorf("%s at %s, partition %d, record %d; want %s at %s, partition 1, record %d",
						user.Op, user.Site, user.Partition, user.Offset, x.op, site, x.offset)
				}
				if !strings.Contains(user.Stack, "errors_test.go") {
					t.Errorf("stack does not show this file:\n%s", user.Stack)
				}
				var p *PanicError
				if !errors.As(err, &p) || p.Value != "boom" {
					t.Errorf("%v, want the panic's value", err)
				}
			})
		}
	})
}

// hereBefore is the place so many lines above its caller.
func hereBefore(lines int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line-lines)
}

var errOdd = errors.New("odd")

// cardError is an error type of a program.
type cardError struct{ n int }

func (e *cardError) Error() string { return fmt.Sprint("card ", e.n) }

func TestErrorOfUserFunction(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		in := Parallelize(c, upTo(10), 2)
		fail := func(x int) (int, error) {
			if x == 8 {
				return 0, fmt.Errorf("row: %w", io.ErrUnexpectedEOF)
			}
			return x, nil
		}
		r := TryMap(in, fail)
		site := hereBefore(1)
		_, err := r.Collect(t.Context())
		var user *UserError
		if !errors.As(err, &user) || user.Op != "tryMap" || user.Site != site || user.Partition != 1 || user.Offset != 2 || user.Stack != "" {
			t.Errorf("%#v, want tryMap at %s, partition 1, record 2, no stack", user, site)
		}
		wantErr(t, "tryMap", err, io.ErrUnexpectedEOF)
		if !strings.Contains(err.Error(), "row: unexpected EOF") {
			t.Errorf("text %q does not say what the function said", err)
		}
		chunks := MapChunks(in, func([]int, []int) ([]int, error) { return nil, fs.ErrPermission })
		wantErr(t, "mapChunks", errOf(chunks.Count(t.Context())), fs.ErrPermission)
		each := in.ForeachPartition(t.Context(), func(context.Context, int, iter.Seq[int]) error { return fs.ErrExist })
		wantErr(t, "foreachPartition", each, fs.ErrExist)
		shrunk := FlatMapAppend(in, func(x int, out []int) []int {
			if x%2 == 0 {
				return nil
			}
			return append(out, x)
		})
		if err := errOf(shrunk.Count(t.Context())); !errors.As(err, &user) || user.Offset != int64(1+user.Partition) {
			t.Errorf("shrinking function: %v, want a UserError at the first even record behind another", err)
		}
	})
}

func TestBuildError(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	in := Parallelize(c, []Pair[int, int]{kv(1, 1)}, 1)
	for _, x := range []struct {
		op   string
		err  error
		want error
	}{
		{"map", Map[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"tryMap", TryMap[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"filter", in.Filter(nil).Err(), ErrNilFunction},
		{"flatMap", FlatMap[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"flatMap", FlatMapAppend[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"mapChunks", MapChunks[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"mapPartitions", MapPartitions[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"mapPartitionsWithIndex", MapPartitionsWithIndex[Pair[int, int], int](in, nil).Err(), ErrNilFunction},
		{"keyBy", KeyBy[int](in, nil).Err(), ErrNilFunction},
		{"mapValues", MapValues[int, int, int](in, nil).Err(), ErrNilFunction},
		{"flatMapValues", FlatMapValues[int, int, int](in, nil).Err(), ErrNilFunction},
		{"reduceByKey", ReduceByKey(in, nil).Err(), ErrNilFunction},
		{"combineByKey", CombineByKey[int, int, int](in, nil, nil, nil).Err(), ErrNilFunction},
		{"aggregateByKey", AggregateByKey[int, int, int](in, 0, nil, nil).Err(), ErrNilFunction},
		{"foldByKey", FoldByKey(in, 0, nil).Err(), ErrNilFunction},
		{"groupByKey", GroupByKey(in, NumPartitions(-1)).Err(), ErrArgument},
		{"reduceByKey", ReduceByKey(in, add[int], PartitionedBy(PartitionFunc[int]("f", 1, nil))).Err(), ErrNilFunction},
		{"textFile", TextFile(c, "x", 0).Err(), ErrArgument},
	} {
		var build *BuildError
		if !errors.As(x.err, &build) || build.Op != x.op || !strings.HasPrefix(build.Site, "errors_test.go:") || !errors.Is(x.err, x.want) {
			t.Errorf("%s: %v, want a BuildError of %s here wrapping %v", x.op, x.err, x.op, x.want)
		}
	}
	broken := in.Filter(nil)
	site := broken.Site()
	derived := ReduceByKey(MapValues(broken.Union(in), func(v int) int { return v }), add[int])
	ctx := t.Context()
	for name, err := range map[string]error{
		"collect": errOf(derived.Collect(ctx)), "count": errOf(derived.Count(ctx)), "take": errOf(derived.Take(ctx, 1)),
		"reduce": errOf(derived.Reduce(ctx, func(a, _ Pair[int, int]) Pair[int, int] { return a })), "first": errOf(derived.First(ctx)),
		"save": derived.SaveAsTextFile(ctx, filepath.Join(t.TempDir(), "x")), "sort": errOf(SortByKey(ctx, derived)),
		"checkpoint": derived.Checkpoint(), "partitions": errOf(derived.NumPartitions()),
		"foreach": derived.Foreach(ctx, func(Pair[int, int]) {}), "join": errOf(Join(in, derived).Collect(ctx)),
	} {
		var build *BuildError
		if !errors.As(err, &build) || build.Op != "filter" || build.Site != site {
			t.Errorf("%s on what derives from it: %v, want the filter's BuildError at %s", name, err, site)
		}
	}
	if err := in.Foreach(ctx, nil); !errors.Is(err, ErrNilFunction) {
		t.Errorf("foreach of nil: %v", err)
	}
	if _, err := in.Reduce(ctx, nil); !errors.Is(err, ErrNilFunction) {
		t.Errorf("reduce of nil: %v", err)
	}
}

func TestContext(t *testing.T) {
	if _, err := NewContext(nil, Options{}); err == nil {
		t.Error("a nil runner is taken")
	}
	if _, err := NewContext(newInlineRunner(false), Options{DefaultParallelism: -1, Cores: -1}); err == nil || !strings.Contains(err.Error(), "Cores") {
		t.Errorf("negative options: %v", err)
	}
	t.Run("G12 no action inside a task", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			in := Parallelize(c, upTo(2), 1)
			err := in.ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error {
				_, err := in.Count(ctx)
				return err
			})
			wantErr(t, "nested", err, ErrNestedJob)
		})
	})
	t.Run("G12 no action after Stop", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			in := Parallelize(c, upTo(2), 1)
			c.Stop()
			_, err := in.Count(t.Context())
			wantErr(t, "stopped", err, ErrStopped)
		})
	})
	t.Run("a cancelled action ends with the context's error", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			endless := Range(c, 0, 1<<62, 1, 2)
			err := Map(endless, func(x int64) int64 { cancel(cause); return x }).Foreach(ctx, func(int64) {})
			if !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the context's error", err)
			}
		})
	})
}

// What crosses a process border answers errors.Is and errors.As as before.
func TestErrorCodec(t *testing.T) {
	c := NewErrorCodec()
	node := lineage.NodeID{Scope: lineage.Scope{Batch: 2000, Stream: 3}, Ordinal: 7}
	for _, err := range []error{
		&UserError{Op: "map", Site: "main.go:3", Node: node, Partition: 4, Offset: 1234, Stack: "stack", Err: &PanicError{Value: "boom\xff"}},
		&UserError{Op: "map", Site: "main.go:3", Offset: -1, Err: fmt.Errorf("a: %w", errors.Join(ErrEmpty, fmt.Errorf("b: %w", context.Canceled)))},
		&UserError{Err: &keyed.KeyTypeError{Type: "*int", Path: "key", Reason: "no"}},
		&UserError{Err: fmt.Errorf("%w: %w", ErrPartitioner, &keyed.PartitionError{Entry: 1, Got: -2, Of: 3})},
		&UserError{Err: &codec.CorruptError{Offset: 3, Reason: "short", Err: io.ErrUnexpectedEOF}},
		&UserError{Err: &fs.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}},
		&UserError{Err: &BuildError{Op: "filter", Site: "main.go:9", Err: ErrNilFunction}},
		&UserError{Err: errStop}, &UserError{}, &PanicError{Value: ""},
		&BuildError{Op: "join", Site: "x", Err: fmt.Errorf("%w: 3", ErrArgument)},
		ErrEmpty, ErrNestedJob, keyed.ErrBadKeyType, codec.ErrCorrupt,
	} {
		data, ok := c.Encode(err)
		if !ok {
			t.Errorf("%v is not encoded", err)
			continue
		}
		got := c.Decode(data)
		if got.Error() != err.Error() {
			t.Errorf("text %q, want %q", got, err)
		}
		for _, s := range allSentinels() {
			if errors.Is(got, s.err) != errors.Is(err, s.err) {
				t.Errorf("%v: errors.Is %s is %t, want %t", err, s.name, errors.Is(got, s.err), errors.Is(err, s.err))
			}
		}
		sameAs[*UserError](t, got, err, func(e *UserError) any { u := *e; u.Err = nil; return u })
		sameAs[*PanicError](t, got, err, func(e *PanicError) any { return *e })
		sameAs[*BuildError](t, got, err, func(e *BuildError) any { b := *e; b.Err = nil; return b })
		sameAs[*keyed.KeyTypeError](t, got, err, func(e *keyed.KeyTypeError) any { return *e })
		sameAs[*keyed.PartitionError](t, got, err, func(e *keyed.PartitionError) any { return *e })
		sameAs[*codec.CorruptError](t, got, err, func(e *codec.CorruptError) any { return [2]any{e.Offset, e.Reason} })
		again, _ := c.Encode(got)
		if twice := c.Decode(again); twice.Error() != err.Error() {
			t.Errorf("sent on, text is %q, want %q", twice, err)
		}
	}
	for _, err := range []error{errOdd, context.Canceled, fmt.Errorf("wrapped: %w", ErrEmpty), &cardError{1}} {
		if _, ok := c.Encode(err); ok {
			t.Errorf("%v is none of this package, but is encoded", err)
		}
	}
	full, _ := c.Encode(&UserError{Op: "map", Err: fmt.Errorf("x: %w", &cardError{4})})
	for n := range full {
		if err := c.Decode(full[:n]); err == nil {
			t.Errorf("%d of %d bytes decode to no error", n, len(full))
		}
	}
	deep := error(errOdd)
	for range 200 {
		deep = &UserError{Err: deep}
	}
	data, _ := c.Encode(deep)
	if err := c.Decode(data); err == nil || err.Error() == "" {
		t.Errorf("deep error decodes to %v", err)
	}
}

func sameAs[E error](t *testing.T, got, want error, facts func(E) any) {
	t.Helper()
	var g, w E
	isG, isW := errors.As(got, &g), errors.As(want, &w)
	if isG != isW {
		t.Errorf("%v: errors.As %T is %t, want %t", want, w, isG, isW)
	} else if isG {
		same(t, fmt.Sprintf("%T", w), fmt.Sprint(facts(g)), fmt.Sprint(facts(w)))
	}
}
