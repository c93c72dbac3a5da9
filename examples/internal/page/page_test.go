package page_test

import (
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/examples/internal/page"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// free returns an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestShow(t *testing.T) {
	ssc := streamingcontext.New(streamingcontext.Options{App: "shown", Interval: time.Second})
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	addr := page.Flag(flags)
	stop, err := page.Show(t.Context(), *addr, ssc)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := flags.Parse([]string{"-web", free(t)}); err != nil {
		t.Fatal(err)
	}
	if stop, err = page.Show(t.Context(), *addr, ssc); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	for path, want := range map[string]string{"/streaming/": "shown", "/metrics": "leat_streaming_batch_interval_seconds 1\n"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+*addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(w.Body)
		if err != nil || w.Body.Close() != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %v, %s", path, err, body)
		}
	}
	client.CloseIdleConnections()
	stop()
	stop()
}

func TestShowNeedsALoopbackAddress(t *testing.T) {
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
	if _, err := page.Show(t.Context(), ":4040", ssc); err == nil || !strings.Contains(err.Error(), web.ErrNotLoopback.Error()) {
		t.Errorf("got %v", err)
	}
}
