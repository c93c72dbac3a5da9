package web_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/metrics"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/streamtest"
	"github.com/leat-io/leat/streamingcontext/web"
)

func TestRequestsThatAreNotAnswered(t *testing.T) {
	ui := server(t, fixture(), nil)
	batch := fmt.Sprintf("/streaming/batches/%d", start+4*second)
	for path, want := range map[string]int{
		"/": 302, "/streaming": 302, "/streaming/batch": 302, "/streaming/batch?id=5": 302,
		"/streaming/batch/": 400, "/streaming/batch/?id=5": 404, "/streaming/batch/?id=x": 404,
		"/streaming/batches?status=DONE": 400, "/streaming/batches?status=QUEUED&status=": 400, "/streaming/batches?status=queued": 400,
		"/streaming/batches/5": 404, "/streaming/batches/x": 404, "/streaming/batches/5/operations": 404, "/streaming/batches/5/operations/0": 404,
		batch + "/operations/2": 404, batch + "/operations/-1": 404, batch + "/operations/x": 404, batch + "/operations/1": 200,
		"/streaming/receivers/7": 404, "/streaming/receivers/x": 404, "/streaming/receivers/0": 200,
		"/streaming/pages/": 404, "/pages/style.css": 404, "/streaming/style.css/": 404, "/etc/passwd": 404, "/metrics": 404, "/favicon.ico": 404,
		"/streaming/style.css": 200, "/streaming/": 200, "/streaming/nothing": 404,
	} {
		if w := get(t, ui, path); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	for path, want := range map[string]string{"/": "streaming/", "/streaming/batch?id=5": "batch/?id=5"} {
		if got := get(t, ui, path).Header().Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	ui := server(t, fixture(), func(o *web.Options) { o.Metrics = metrics.Handler(fixture()) })
	for _, path := range []string{"/streaming/", "/streaming/statistics", "/streaming/style.css", "/metrics"} {
		for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405} {
			w := httptest.NewRecorder()
			ui.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			if w.Code != want || want == 405 && w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, allowed %q", method, path, w.Code, w.Header().Get("Allow"))
			}
			if w.Header().Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s has no policy", method, path)
			}
		}
	}
	if body := get(t, ui, "/metrics").Body.String(); !strings.Contains(body, "leat_streaming_completed_batches_total 8\n") {
		t.Errorf("metrics: %s", body)
	}
}

func TestTheServerMayBeBelowAnotherPath(t *testing.T) {
	h := http.StripPrefix("/ops", server(t, fixture(), nil))
	if got := get(t, h, "/ops/streaming/").Body.String(); !strings.Contains(got, `href="./style.css"`) || strings.Contains(got, `href="/`) {
		t.Error("links are not relative")
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for _, bad := range []web.Options{{Refresh: 1500 * time.Millisecond}, {TLS: &tls.Config{MinVersion: tls.VersionTLS13}}} {
		if _, err := web.New(progress.New(progress.Options{}), bad); err == nil {
			t.Errorf("%+v is allowed", bad)
		}
	}
}

func TestOnlyLoopbackWithoutTLS(t *testing.T) {
	ui := server(t, fixture(), nil)
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:4040", "example.com:4040"} {
		if err := ui.Run(t.Context(), addr); !errors.Is(err, web.ErrNotLoopback) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ui.Serve(t.Context(), l); !errors.Is(err, web.ErrNotLoopback) {
		t.Errorf("a listener of all interfaces: %v", err)
	}
	if err := ui.Run(t.Context(), "localhost"); err == nil {
		t.Error("an address without a port is allowed")
	}
	l, err = ui.Listen(t.Context(), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := ui.Run(t.Context(), l.Addr().String()); err == nil {
		t.Error("an address that is taken is allowed")
	}
}

// serve returns the address of a server and what ends it.
func serve(t *testing.T, ui *web.Server) (addr string, end func()) {
	t.Helper()
	l, err := ui.Listen(t.Context(), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := ui.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), func() { cancel(); serving.Wait() }
}

func TestServe(t *testing.T) {
	addr, end := serve(t, server(t, fixture(), nil))
	defer end()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(host string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/streaming/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		if _, err := io.Copy(io.Discard, w.Body); err != nil {
			t.Fatal(err)
		}
		return w.StatusCode
	}
	for host, want := range map[string]int{
		addr: 200, "localhost": 200, "localhost:4040": 200, "[::1]:4040": 200, "127.0.0.1": 200,
		"evil.example": 403, "evil.example:4040": 403, "localhost.evil.example": 403, "192.0.2.1": 403,
	} {
		if got := ask(host); got != want {
			t.Errorf("host %s: status %d, want %d", host, got, want)
		}
	}
}

// A reader that never reads holds up nobody: U-03.
func TestReadersThatDoNotReadHoldUpNobody_U03(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	store := progress.New(progress.Options{})
	defer store.Attach(kit.Context())()
	addr, end := serve(t, server(t, store, nil))
	in := streamtest.Input[int](kit)
	dstream.ForeachRDD(in.Stream(), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
	var d net.Dialer
	for range 5 {
		c, err := d.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "GET /streaming/ HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	stuck, answered := &stuckWriter{asked: make(chan bool), let: make(chan bool)}, make(chan bool)
	ui := server(t, store, nil)
	go func() {
		defer close(answered)
		ui.ServeHTTP(stuck, httptest.NewRequest(http.MethodGet, "/streaming/", nil))
	}()
	<-stuck.asked
	in.Push(1)
	kit.Advance(20)
	if err := kit.Context().Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := store.Snapshot().CompletedBatches; n != 20 {
		t.Errorf("%d batches", n)
	}
	close(stuck.let)
	<-answered
	end()
}

// A stuckWriter waits in its first Write.
type stuckWriter struct {
	asked, let chan bool
	header     http.Header
}

func (w *stuckWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *stuckWriter) WriteHeader(int) {}
func (w *stuckWriter) Write(b []byte) (int, error) {
	close(w.asked)
	<-w.let
	return len(b), nil
}

// Readers and a program at once, for the race detector.
func TestReadingWhileBatchesRun(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	store := progress.New(progress.Options{RetainedBatches: 5, RetainedJobs: 5})
	detach := store.Attach(kit.Context())
	ui := server(t, store, func(o *web.Options) { o.Metrics = metrics.Handler(store) })
	in := streamtest.Input[int](kit)
	counts := dstream.CountByValueAndWindow(in.Stream(), 3*time.Second, time.Second)
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int, int64]], _ dstream.Time) error {
		_, err := r.Collect(ctx)
		return err
	})
	over := make(chan bool)
	var readers sync.WaitGroup
	for _, path := range []string{"/streaming/", "/streaming/batch/?id=%d", "/metrics", "/streaming/batches", "/streaming/batches/%d/operations"} {
		readers.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-over:
					return
				default:
				}
				at := path
				if strings.Contains(path, "%d") {
					at = fmt.Sprintf(path, 1000*(i%40))
				}
				if w := get(t, ui, at); w.Code != 200 && w.Code != 404 {
					t.Errorf("%s: status %d", at, w.Code)
				}
			}
		})
	}
	for i := range 40 {
		in.Push(i, i%3)
		kit.Advance(1)
	}
	close(over)
	readers.Wait()
	if err := kit.Context().Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	detach()
	if body := get(t, ui, "/streaming/batch/?id=40000").Body.String(); !strings.Contains(body, "reduceByKeyAndWindow") || !strings.Contains(body, "Stage ") {
		t.Errorf("the last batch:\n%s", body)
	}
}
