package recovery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

var errDown = errors.New("the sink is down")

// down is a sink that answers nothing.
type down struct{ sink.Sink[string] }

func (down) Last(context.Context, string, string) (sink.Mark, error) {
	return sink.Mark{ID: -1}, errDown
}

// Whatever becomes of a start, the folder is free after it, and the next one goes on.
func TestStartsThatFail_D4(t *testing.T) {
	want := undisturbed(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("setup is broken")
	create := func(p *program, setup func(*streamingcontext.Context) error) error {
		_, err := streamingcontext.GetOrCreate(p.site.dir(), p.options(), setup)
		return err
	}
	for name, try := range map[string]func(t *testing.T, p *program) error{
		"setup returns an error the first time": func(t *testing.T, p *program) error {
			return create(p, func(*streamingcontext.Context) error { return broken })
		},
		"setup returns an error the second time": func(t *testing.T, p *program) error {
			calls := 0
			return create(p, func(ssc *streamingcontext.Context) error {
				if calls++; calls == 2 {
					return broken
				}
				return p.declare(ssc)
			})
		},
		"setup panics": func(t *testing.T, p *program) (err error) {
			defer func() {
				if recover() != nil {
					err = broken
				}
			}()
			calls := 0
			return create(p, func(ssc *streamingcontext.Context) error {
				if calls++; calls == 2 {
					panic("setup")
				}
				return p.declare(ssc)
			})
		},
		"setup declares something else each time": func(t *testing.T, p *program) error {
			calls := 0
			return create(p, func(ssc *streamingcontext.Context) error {
				if calls++; calls == 2 {
					dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]int{{1}}, 1), func(context.Context, *rdd.RDD[int], dstream.Time) error { return nil })
				}
				return p.declare(ssc)
			})
		},
		"stopped before it is started": func(t *testing.T, p *program) error {
			ssc, err := streamingcontext.GetOrCreate(p.site.dir(), p.options(), p.declare)
			if err != nil {
				return err
			}
			return errors.Join(ssc.Stop(t.Context(), streamingcontext.StopOptions{}), ssc.Start(t.Context()))
		},
		"started with a context that has ended": func(t *testing.T, p *program) error {
			ssc, err := streamingcontext.GetOrCreate(p.site.dir(), p.options(), p.declare)
			if err != nil {
				return err
			}
			return ssc.Start(ended) // and not stopped
		},
		"the sink is down": func(t *testing.T, p *program) error {
			p.sink = func(s sink.Sink[string]) sink.Sink[string] { return down{s} }
			_, err := p.start(t.Context())
			if !errors.Is(err, errDown) || !strings.Contains(err.Error(), "output rows") {
				t.Errorf("got %v", err)
			}
			return err
		},
		"the context ends while batches are rolled forward": func(t *testing.T, p *program) error {
			p.holdCommits = 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var watch sync.WaitGroup
			watch.Go(func() {
				<-p.held
				cancel()
			})
			_, err := p.start(ctx)
			watch.Wait()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			return err
		},
		"stopped while batches are rolled forward": func(t *testing.T, p *program) error {
			p.holdCommits = 0
			ssc, err := streamingcontext.GetOrCreate(p.site.dir(), p.options(), p.declare)
			if err != nil {
				return err
			}
			var watch sync.WaitGroup
			watch.Go(func() {
				<-p.held
				if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
					t.Error(err)
				}
			})
			err = ssc.Start(t.Context())
			watch.Wait()
			return errors.Join(err, ssc.Start(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := left(t, endings[2].set, endings[2].stop)
			for range 2 {
				p := newProgram(s)
				p.clock.Set(last * 1000)
				if err := try(t, p); err == nil {
					t.Fatal("it starts")
				}
			}
			if got := goOn(t, s, want); got != right {
				t.Error(got)
			}
		})
	}
}

// A folder whose log and state are of an earlier time than the sink, or the other way round, is refused.
func TestFoldersOfDifferentTimes_D4(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(s, older site) error
		want error
	}{
		"the program's folder is older": {func(s, older site) error {
			return errors.Join(os.RemoveAll(s.dir()), os.CopyFS(s.dir(), os.DirFS(older.dir())))
		}, streamingcontext.ErrSinkAhead},
		"the sink's folder is older": {func(s, older site) error {
			return errors.Join(os.RemoveAll(s.out()), os.CopyFS(s.out(), os.DirFS(older.out())))
		}, streamingcontext.ErrSinkBehind},
		"the sink's folder is gone":    {func(s, _ site) error { return os.RemoveAll(s.out()) }, streamingcontext.ErrSinkBehind},
		"the program's folder is gone": {func(s, _ site) error { return os.RemoveAll(s.dir()) }, streamingcontext.ErrSinkAhead},
	} {
		t.Run(name, func(t *testing.T) {
			s, older := left(t, endings[0].set, endings[0].stop)
			if err := test.do(s, older); err != nil {
				t.Fatal(err)
			}
			p := newProgram(s)
			p.clock.Set(last * 1000)
			_, err := p.start(t.Context())
			if mark, ok := errors.AsType[*streamingcontext.SinkMarkError](err); !ok || !errors.Is(err, test.want) || mark.Output != "rows" {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("the log is gone, with all that says how far it was", func(t *testing.T) {
		s, _ := left(t, endings[0].set, endings[0].stop)
		for _, name := range []string{"driver.db", "driver.db.tail"} {
			if err := os.Remove(filepath.Join(s.dir(), name)); err != nil {
				t.Fatal(err)
			}
		}
		p := newProgram(s)
		_, err := p.start(t.Context())
		if _, ok := errors.AsType[*streamingcontext.FolderError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

// An output that stages nothing in most batches is missed by its newest manifest as well.
func TestASinkBehindOfARareOutput_D4(t *testing.T) {
	root, clock := t.TempDir(), new(streamingcontext.ManualClock)
	setup := func(ssc *streamingcontext.Context) error {
		in := streamingcontext.Slices(ssc, [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, 1)
		dstream.SaveTo(dstream.Window(in, 4*time.Second, 4*time.Second), "rare", textTo(root))
		dstream.SaveTo(in, "each", textTo(root))
		return nil
	}
	start := func() (*streamingcontext.Context, error) {
		ssc, err := streamingcontext.GetOrCreate(filepath.Join(root, "app"), streamingcontext.Options{Interval: time.Second, Clock: clock, StopTimeout: -1}, setup)
		if err != nil {
			return nil, err
		}
		return ssc, ssc.Start(t.Context())
	}
	for n := int64(1); n <= 7; n++ { // a process for each batch
		ssc, err := start()
		if err != nil {
			t.Fatal(err)
		}
		clock.Set(n * 1000)
		if err := errors.Join(ssc.Settled(t.Context(), dstream.Time(n*1000)), ssc.Stop(t.Context(), streamingcontext.StopOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	manifests, err := filepath.Glob(filepath.Join(root, "out", "*", "rare", "commits", "*"))
	if err != nil || len(manifests) != 1 {
		t.Fatal(manifests, err)
	}
	if err := os.Remove(manifests[0]); err != nil {
		t.Fatal(err)
	}
	_, err = start()
	if mark, ok := errors.AsType[*streamingcontext.SinkMarkError](err); !ok || !errors.Is(err, streamingcontext.ErrSinkBehind) || mark.Output != "rare" {
		t.Errorf("got %v", err)
	}
}
