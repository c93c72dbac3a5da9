package httpsink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/httpsink"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Time: id * 1000, Epoch: 1, Try: 1}
}

func stage[T any](ctx context.Context, s sink.Sink[T], b sink.Batch, attempt string, parts ...[]T) ([]byte, error) {
	if err := s.Begin(ctx, b, len(parts)); err != nil {
		return nil, err
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		w, err := s.Part(ctx, b, i, attempt)
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			notes[i], err = w.Finish(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Seal(ctx, b, notes)
}

// A receiver is a server, as the transport of a client: it takes what comes, and does to the n-th request what its plan says.
type receiver struct {
	t      *testing.T
	mu     sync.Mutex
	keys   []string // in the order of their first request
	bodies map[string]string
	calls  int
	times  []time.Time
	answer func(call int, key string) (status int, lost bool) // lost: it is done and not told
	header http.Header
}

func newReceiver(t *testing.T, answer func(call int, key string) (int, bool)) *receiver {
	return &receiver{t: t, bodies: make(map[string]string), answer: answer}
}

func (r *receiver) take(req *http.Request) (status int, lost bool) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := req.Header.Get(httpsink.KeyHeader)
	r.calls++
	r.times = append(r.times, time.Now())
	r.header = req.Header.Clone()
	if status, lost = r.answer(r.calls, key); status/100 != 2 {
		return status, lost
	}
	if was, ok := r.bodies[key]; ok && was != string(body) {
		r.t.Errorf("key %s came with %q and with %q", key, was, body)
	} else if !ok {
		r.keys = append(r.keys, key)
	}
	r.bodies[key] = string(body)
	return status, lost
}

// RoundTrip is the receiver without a network.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	status, lost := r.take(req)
	_ = req.Body.Close()
	if lost {
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader("because")), Request: req}, nil
}

// ServeHTTP is the receiver in a server.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	status, lost := r.take(req)
	if lost {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
}

func (r *receiver) got() (all []string) {
	for _, key := range r.keys {
		all = append(all, key+" "+r.bodies[key])
	}
	return all
}

func text(s *string) ([]byte, error) { return []byte(*s), nil }

func words(fsys *disk.Disk, r *receiver, rows int) *httpsink.Sink[string] {
	return httpsink.New("/spool", "http://receiver/", httpsink.Options[string]{Row: text, Rows: rows, Client: &http.Client{Transport: r}, FS: fsys})
}

func TestLostAnswersLoseNoRow(t *testing.T) {
	r := newReceiver(t, func(call int, _ string) (int, bool) {
		switch call % 4 {
		case 1:
			return 200, true // done, and the answer is dropped
		case 2:
			return 503, false
		}
		return 204, false
	})
	server := httptest.NewServer(r)
	defer server.Close()
	client := server.Client()
	defer client.CloseIdleConnections()
	s := httpsink.New(t.TempDir(), server.URL, httpsink.Options[int]{Rows: 3, FirstWait: time.Millisecond, LastWait: time.Millisecond, Client: client})
	var want []string
	for id := range int64(3) {
		staged, err := stage(t.Context(), s, batch(id), "a", []int{1, 2, 3, 4}, nil, []int{5, 6, 7})
		if err == nil {
			err = s.Commit(t.Context(), batch(id), staged)
		}
		if err == nil {
			err = s.Commit(t.Context(), batch(id), staged)
		}
		if err == nil {
			err = s.Clean(t.Context(), batch(id))
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("app/out/%d/0/0 1\n2\n3\n", id), fmt.Sprintf("app/out/%d/0/3 4\n", id), fmt.Sprintf("app/out/%d/2/0 5\n6\n7\n", id))
	}
	if diff := cmp.Diff(want, r.got()); diff != "" {
		t.Errorf("the server has (-want +got):\n%s", diff)
	}
	if r.calls <= len(want) {
		t.Errorf("%d requests, nothing was dropped", r.calls)
	}
	if m, err := s.Last(t.Context(), "app", "out"); err != nil || m.ID != 2 {
		t.Errorf("Last = %v, %v", m, err)
	}
}

func TestOneRowARequest(t *testing.T) {
	r := newReceiver(t, func(int, string) (int, bool) { return 200, false })
	s := httpsink.New("/spool", "http://receiver/", httpsink.Options[string]{Rows: 1, Client: &http.Client{Transport: r}, FS: disk.New(),
		Header: http.Header{"authorization": {"Bearer x"}}})
	b := batch(0)
	b.App, b.Output = "a/b", "ä\t"
	staged, err := stage(t.Context(), s, b, "a", []string{"x\ny"}, []string{"z"})
	if err == nil {
		err = s.Commit(t.Context(), b, staged)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`a%2Fb/%C3%A4%09/0/0/0 "x\ny"`, `a%2Fb/%C3%A4%09/0/1/0 "z"`}, r.got()); diff != "" {
		t.Error(diff)
	}
	if r.header.Get("Content-Type") != "application/json" || r.header.Get("Authorization") != "Bearer x" {
		t.Errorf("the headers are %v", r.header)
	}
}

func TestWaitsGrowAndEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(t, func(int, string) (int, bool) { return 500, false })
		s := words(disk.New(), r, 0)
		staged, err := stage(t.Context(), s, batch(0), "a", []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Commit(ctx, batch(0), staged); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "500") {
			t.Errorf("Commit = %v", err)
		}
		var waits []time.Duration
		for i := 1; i < len(r.times); i++ {
			waits = append(waits, r.times[i].Sub(r.times[i-1]))
		}
		want := []time.Duration{100e6, 200e6, 400e6, 800e6, 1600e6, 3200e6, 6400e6, 10e9, 10e9, 10e9, 10e9}
		if !slices.Equal(waits, want) {
			t.Errorf("waits are %v, want %v", waits, want)
		}
		if m, err := s.Last(t.Context(), "app", "out"); err != nil || m.ID != -1 {
			t.Errorf("Last = %v, %v", m, err)
		}
	})
}

func TestRefusedRowsAreNamed(t *testing.T) {
	refuse := true
	r := newReceiver(t, func(_ int, key string) (int, bool) {
		if refuse && key == "app/out/0/1/2" {
			return 422, false
		}
		return 200, false
	})
	fsys := disk.New()
	s := words(fsys, r, 2)
	staged, err := stage(t.Context(), s, batch(0), "a", []string{"a"}, []string{"b", "c", "d", "e", "f"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Commit(t.Context(), batch(0), staged)
	var refused *httpsink.RefusedError
	if !errors.As(err, &refused) || refused.Part != 1 || refused.Row != 2 || refused.Rows != 2 || refused.Status != 422 || refused.Answer != "because" {
		t.Fatalf("Commit = %v", err)
	}
	if want := `app/out batch 0, partition 1, rows 2 to 3: the server answers 422: "because"`; refused.Error() != want {
		t.Errorf("the error is %q, want %q", refused, want)
	}
	calls := r.calls
	refuse = false
	if err := s.Commit(t.Context(), batch(0), staged); err != nil || r.calls != calls+2 {
		t.Errorf("Commit again = %v with %d requests, want 2: it goes on where it was", err, r.calls-calls)
	}

	// And with a place for what is refused.
	refuse = true
	var left []string
	s = httpsink.New("/other", "http://receiver/", httpsink.Options[string]{Row: text, Rows: 2, Client: &http.Client{Transport: r}, FS: fsys,
		Refused: func(e *httpsink.RefusedError) error {
			left = append(left, string(e.Body))
			return nil
		}})
	staged, err = stage(t.Context(), s, batch(0), "a", []string{"a"}, []string{"b", "c", "d", "e", "f"})
	if err == nil {
		err = s.Commit(t.Context(), batch(0), staged)
	}
	if err != nil || !slices.Equal(left, []string{"d\ne\n"}) {
		t.Errorf("%v, %q were left out", err, left)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var methods []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		methods = append(methods, req.Method)
		if req.Method == http.MethodPost {
			http.Redirect(w, req, "/elsewhere", http.StatusFound)
		}
	}))
	defer server.Close()
	s := httpsink.New(t.TempDir(), server.URL, httpsink.Options[string]{Client: server.Client()})
	defer server.Client().CloseIdleConnections()
	staged, err := stage(t.Context(), s, batch(0), "a", []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	var refused *httpsink.RefusedError
	if err := s.Commit(t.Context(), batch(0), staged); !errors.As(err, &refused) || refused.Status != http.StatusFound {
		t.Errorf("Commit = %v after %v", err, methods)
	}
}

func TestRowsWithNewlinesAreRefused(t *testing.T) {
	s := words(disk.New(), nil, 2)
	_, err := stage(t.Context(), s, batch(0), "a", nil, []string{"x", "y\nz"})
	var row *httpsink.RowError
	if !errors.As(err, &row) || row.Part != 1 || row.Row != 1 {
		t.Errorf("%v", err)
	}
}

func TestCrashAtEveryCallKeepsRowsAndKeys(t *testing.T) {
	rows := func(id int64) [][]string {
		return [][]string{{fmt.Sprint("a", id), fmt.Sprint("b", id), fmt.Sprint("c", id)}, nil, {fmt.Sprint("d", id)}}
	}
	var want []string
	for id := range int64(3) {
		want = append(want, fmt.Sprintf("app/out/%d/0/0 a%d\nb%d\n", id, id, id), fmt.Sprintf("app/out/%d/0/2 c%d\n", id, id), fmt.Sprintf("app/out/%d/2/0 d%d\n", id, id))
	}
	run := func(fsys *disk.Disk, r *receiver, prepared map[int64][]byte, epoch uint64) error {
		s := words(fsys, r, 2+int(epoch-1)*5) // a later process has other options
		for id := range int64(3) {
			b := batch(id)
			b.Epoch = epoch
			if prepared[id] == nil {
				staged, err := stage(t.Context(), words(fsys, r, 2), b, fmt.Sprint(epoch), rows(id)...)
				if err != nil {
					return err
				}
				prepared[id] = staged
			}
			if err := s.Commit(t.Context(), b, prepared[id]); err != nil {
				return err
			}
			if err := s.Clean(t.Context(), b); err != nil {
				return err
			}
		}
		return nil
	}
	points, repeated := 0, false
	for _, when := range []disk.When{disk.Before, disk.After} {
		for n := 1; ; n++ {
			fsys, prepared := disk.New(), make(map[int64][]byte)
			r := newReceiver(t, func(int, string) (int, bool) { return 200, false })
			fsys.CrashAt(n, when)
			err := run(fsys, r, prepared, 1)
			crashed := fsys.Crashed()
			if crashed {
				points++
				at := fmt.Sprintf("crash %v %v", when, fsys.Last())
				fsys = fsys.After(disk.Losses[n%len(disk.Losses)], uint64(n))
				if err := run(fsys, r, prepared, 2); err != nil {
					t.Fatalf("%s: %v", at, err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, r.got()); diff != "" {
				t.Fatalf("point %d: the server has (-want +got):\n%s", n, diff)
			}
			repeated = repeated || r.calls > len(want)
			if !crashed {
				break
			}
		}
	}
	if points < 40 || !repeated {
		t.Errorf("%d points, requests repeated: %v", points, repeated)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		url  string
		opts httpsink.Options[string]
	}{
		{"ftp://x", httpsink.Options[string]{}},
		{"http://", httpsink.Options[string]{}},
		{"http://x", httpsink.Options[string]{Rows: -1}},
		{"http://x", httpsink.Options[string]{FirstWait: -1}},
		{"http://x", httpsink.Options[string]{FirstWait: 2, LastWait: 1}},
		{"http://x", httpsink.Options[string]{Header: http.Header{httpsink.KeyHeader: {"x"}}}},
	} {
		s := httpsink.New("d", c.url, c.opts)
		if err := s.Begin(t.Context(), batch(0), 1); !errors.Is(err, httpsink.ErrOptions) {
			t.Errorf("%v: %v", s, err)
		}
	}
	if s := httpsink.New("d", "http://x", httpsink.Options[string]{}); s.Promise() != sink.AtLeastOnce {
		t.Error("it promises more than it can keep")
	}
}
