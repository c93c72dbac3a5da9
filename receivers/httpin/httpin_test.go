package httpin_test

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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/httpin"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type click struct {
	Page string
	N    int
}

func ExampleJSON() {
	type Click struct{ Page string }
	addr := make(chan net.Addr, 1)
	clicks := httpin.JSON[Click]("localhost:0", httpin.Options{Listening: func(a net.Addr) { addr <- a }})
	ctx, stop := context.WithCancel(context.Background())
	var sink receiverstest.Sink[Click]
	ended := make(chan error, 1)
	go func() { ended <- clicks.Receive(ctx, &sink) }()
	url := "http://" + (<-addr).String()
	for _, body := range []string{`{"Page": "/"} {"Page": "/about"}`, `{"Page": "/"} {"Page": 7}`} {
		answer, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			break
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Printf("%d %q\n", answer.StatusCode, text)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	fmt.Println(sink.Records(), <-ended)
	// Output:
	// 204 ""
	// 400 "record 2 (byte 13): json: cannot unmarshal number into Go struct field Click.Page of type string\n"
	// [{/} {/about}] context canceled
}

func ExampleReceiver_ServeHTTP() {
	lines := httpin.Lines("", httpin.Options{})
	mux := http.NewServeMux()
	mux.Handle("/lines", lines) // in the program's own server
	ctx, stop := context.WithCancel(context.Background())
	var sink receiverstest.Sink[string]
	ended := make(chan error, 1)
	go func() { ended <- lines.Receive(ctx, &sink) }()
	for {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest("POST", "/lines", strings.NewReader("to be\nor not to be\n")))
		if answer.Code != http.StatusServiceUnavailable { // until Receive runs
			fmt.Println(answer.Code)
			break
		}
	}
	stop()
	<-ended
	fmt.Printf("%q\n", sink.Records())
	// Output:
	// 204
	// ["to be" "or not to be"]
}

var numbers = []string{"0", "1", "2", "3", "4", "5", "6", "7"}

func TestLines(t *testing.T) {
	t.Run("as a handler", func(t *testing.T) {
		receiverstest.Run(t, func(t *testing.T) receiverstest.Source[string] {
			lines := httpin.Lines("", httpin.Options{})
			var sent atomic.Int64
			ctx, stop := context.WithCancel(context.Background())
			var posting sync.WaitGroup
			posting.Go(func() {
				for i := 0; ctx.Err() == nil; {
					if int64(i) == sent.Load() {
						sent.Add(1)
					}
					answer := httptest.NewRecorder()
					lines.ServeHTTP(answer, httptest.NewRequest("POST", "/", strings.NewReader(fmt.Sprint(i))))
					switch answer.Code {
					case http.StatusNoContent:
						i++
					case http.StatusTooManyRequests, http.StatusServiceUnavailable:
						select {
						case <-ctx.Done():
						case <-time.After(10 * time.Millisecond):
						}
					default:
						t.Errorf("%d: %d %s", i, answer.Code, answer.Body)
						return
					}
				}
			})
			t.Cleanup(func() { stop(); posting.Wait() })
			return receiverstest.Source[string]{Receiver: lines, Want: numbers, Read: func() int { return int(sent.Load()) }}
		})
	})
	t.Run("with its own server", func(t *testing.T) {
		receiverstest.RunReal(t, func(t *testing.T) receiverstest.Source[string] {
			addr := make(chan string, 10)
			lines := httpin.Lines("127.0.0.1:0", httpin.Options{Listening: func(a net.Addr) { addr <- a.String() }})
			ctx, stop := context.WithCancel(context.Background())
			client := &http.Client{Transport: &http.Transport{}}
			var posting sync.WaitGroup
			posting.Go(func() {
				at := ""
				for i := 0; ctx.Err() == nil; {
					select {
					case at = <-addr: // started, or started again
					default:
					}
					if at == "" {
						select {
						case at = <-addr:
						case <-ctx.Done():
							return
						}
					}
					req, _ := http.NewRequestWithContext(ctx, "POST", "http://"+at, strings.NewReader(fmt.Sprint(i)))
					answer, err := client.Do(req)
					if err != nil {
						at = ""
						continue
					}
					answer.Body.Close()
					if answer.StatusCode == http.StatusNoContent {
						i++
					}
				}
			})
			t.Cleanup(func() { stop(); posting.Wait(); client.CloseIdleConnections() })
			return receiverstest.Source[string]{Receiver: lines, Want: numbers}
		})
	})
}

// running is a receiver without a server, inside a bubble.
type running[T any] struct {
	*httpin.Receiver[T]
	sink  receiverstest.Sink[T]
	stop  context.CancelFunc
	ended chan error
}

func start[T any](t *testing.T, r *httpin.Receiver[T], before func(context.Context, int) error) *running[T] {
	ctx, cancel := context.WithCancel(t.Context())
	run := &running[T]{Receiver: r, stop: cancel, ended: make(chan error, 1)}
	run.sink.Before = before
	go func() { run.ended <- r.Receive(ctx, &run.sink) }()
	synctest.Wait()
	return run
}

func (r *running[T]) do(method, body string, header ...string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	req := httptest.NewRequest(method, "/", strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	r.ServeHTTP(answer, req)
	return answer
}

func (r *running[T]) end(t *testing.T, want error) {
	t.Helper()
	r.stop()
	if err := <-r.ended; !errors.Is(err, want) {
		t.Errorf("Receive = %v, want %v", err, want)
	}
}

func TestServeHTTP_answers(t *testing.T) {
	for _, test := range []struct {
		name, method, body string
		header             []string
		status             int
		text               string
		want               []click
	}{
		{name: "values one after the other", body: `{"Page":"a"}{"page":"b","N":2}` + "\n", status: 204, want: []click{{"a", 0}, {"b", 2}}},
		{name: "no records", body: " \n", status: 204},
		{name: "no JSON", body: "{\"N\":1}\n{\"N\":2}\nnonsense\n{\"N\":4}", status: 400, text: "record 3 (byte "},
		{name: "JSON of another type", body: `{"N":1} {"N":"x"}`, status: 400, text: "record 2 (byte "},
		{name: "JSON that ends early", body: `{"N":1} {"N":`, status: 400, text: "record 2 (byte "},
		{name: "a look", method: "GET", status: 405},
		{name: "a put", method: "PUT", body: `{}`, status: 405},
		{name: "too large", body: strings.Repeat(" ", 101), status: 413, text: "more than 100 bytes"},
		{name: "too many", body: `{} {} {} {}`, status: 413, text: "more than 3 records"},
		{name: "compressed", body: `{}`, header: []string{"Content-Encoding", "gzip"}, status: 415},
		{name: "from a page of another origin", body: `{}`, header: []string{"Sec-Fetch-Site", "cross-site"}, status: 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, httpin.JSON[click]("", httpin.Options{MaxBody: 100, MaxRecords: 3}), nil)
				method := test.method
				if method == "" {
					method = "POST"
				}
				answer := r.do(method, test.body, test.header...)
				if answer.Code != test.status || !strings.HasPrefix(answer.Body.String(), test.text) {
					t.Errorf("answer %d %q, want %d %q", answer.Code, answer.Body, test.status, test.text)
				}
				if test.status == 405 && answer.Header().Get("Allow") != "POST" {
					t.Errorf("Allow is %q", answer.Header().Get("Allow"))
				}
				if diff := cmp.Diff(test.want, r.sink.Records()); diff != "" {
					t.Errorf("records (-want +got):\n%s", diff)
				}
				// A bad record is known to those who watch the receiver.
				if n := len(r.sink.Errors()); (n > 0) != (test.status == 400 || test.name == "too many") {
					t.Errorf("%d errors reported: %v", n, r.sink.Errors())
				}
				r.end(t, context.Canceled)
			})
		})
	}
}

func TestLines_names_a_bad_line(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, httpin.Lines("", httpin.Options{MaxRecords: 4}), nil)
		for _, test := range []struct {
			body   string
			status int
			text   string
		}{
			{"a\r\nb\rc\nd", 204, ""},
			{"a\nb\n\xff\nd\n", 400, "record 3 (byte 4): not valid UTF-8\n"},
			{"1\n2\n3\n4\n5", 413, "more than 4 records in a request\n"},
			{strings.Repeat("\n", 1000), 413, "more than 4 records in a request\n"},
		} {
			if answer := r.do("POST", test.body); answer.Code != test.status || answer.Body.String() != test.text {
				t.Errorf("%q: %d %q", test.body, answer.Code, answer.Body)
			}
		}
		r.end(t, context.Canceled)
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, r.sink.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		if r.sink.Calls() != 1 {
			t.Errorf("%d blocks", r.sink.Calls())
		}
	})
}

func TestServeHTTP_waits_a_little_for_room(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := make(chan struct{})
		r := start(t, httpin.Lines("", httpin.Options{Wait: 2500 * time.Millisecond}), func(ctx context.Context, _ int) error {
			select {
			case <-room:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		began := time.Now()
		answer := r.do("POST", "1")
		if answer.Code != 429 || answer.Header().Get("Retry-After") != "3" || time.Since(began) != 2500*time.Millisecond {
			t.Errorf("%d after %v, Retry-After %q", answer.Code, time.Since(began), answer.Header().Get("Retry-After"))
		}
		go func() {
			<-time.After(time.Second)
			close(room)
		}()
		if answer := r.do("POST", "1"); answer.Code != 204 {
			t.Errorf("%d when there is room after a second", answer.Code)
		}
		r.end(t, context.Canceled)
	})
}

func TestServeHTTP_holds_a_bounded_number_of_requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, httpin.Lines("", httpin.Options{MaxRequests: 2}), nil)
		body, write := io.Pipe()
		var held sync.WaitGroup
		for range 2 {
			held.Go(func() {
				answer := httptest.NewRecorder()
				r.ServeHTTP(answer, httptest.NewRequest("POST", "/", body))
				if answer.Code != 204 {
					t.Errorf("a request that was held: %d", answer.Code)
				}
			})
		}
		synctest.Wait()
		if answer := r.do("POST", "1"); answer.Code != 429 || answer.Header().Get("Retry-After") != "1" {
			t.Errorf("a third request: %d", answer.Code)
		}
		write.Close()
		held.Wait()
		if answer := r.do("POST", "1"); answer.Code != 204 {
			t.Errorf("a request when there is room again: %d", answer.Code)
		}
		r.end(t, context.Canceled)
	})
}

func TestReceive_ends_with_the_error_of_the_sink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		r := start(t, httpin.Lines("", httpin.Options{}), func(context.Context, int) error { return full })
		if answer := r.do("POST", "1"); answer.Code != 503 || answer.Header().Get("Retry-After") == "" {
			t.Errorf("answer %d", answer.Code)
		}
		if err := <-r.ended; err != full {
			t.Errorf("Receive = %v", err)
		}
		if answer := r.do("POST", "1"); answer.Code != 503 {
			t.Errorf("answer %d while nothing runs", answer.Code)
		}
		r.stop()
	})
}

// A request that stores when the context ends is finished, or given up at the end of the grace.
func TestReceive_lets_requests_in_flight_finish(t *testing.T) {
	for _, test := range []struct {
		after  time.Duration
		status int
		took   time.Duration
	}{{time.Second, 204, time.Second}, {time.Hour, 503, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, httpin.Lines("", httpin.Options{Grace: 5 * time.Second, Wait: time.Minute}), func(ctx context.Context, _ int) error {
				select {
				case <-time.After(test.after):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			answered := make(chan int, 1)
			go func() { answered <- r.do("POST", "1").Code }()
			synctest.Wait()
			began := time.Now()
			r.end(t, context.Canceled)
			if took := time.Since(began); took != test.took {
				t.Errorf("Receive returned after %v", took)
			}
			if status := <-answered; status != test.status {
				t.Errorf("answer %d, want %d", status, test.status)
			}
		})
	}
}

func TestServeHTTP_gives_up_when_the_client_has_gone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, httpin.Lines("", httpin.Options{Wait: time.Hour}), func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, gone := context.WithCancel(t.Context())
		served := make(chan struct{})
		go func() {
			defer close(served)
			r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader("1")))
		}()
		synctest.Wait()
		gone()
		<-served
		r.end(t, context.Canceled)
	})
}

// A client that sends its body slowly holds the stop up for the grace and no longer.
func TestReceive_cuts_off_a_request_that_does_not_end(t *testing.T) {
	addr := make(chan string, 1)
	lines := httpin.Lines("127.0.0.1:0", httpin.Options{Grace: 50 * time.Millisecond, Listening: func(a net.Addr) { addr <- a.String() }})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- lines.Receive(ctx, &receiverstest.Sink[string]{}) }()
	conn, err := net.Dial("tcp", <-addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))); err != nil { // the handler reads
		t.Fatal(err)
	}
	fmt.Fprint(conn, "half")
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("Receive = %v", err)
	}
	if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, net.ErrClosed) {
		if _, ok := errors.AsType[*net.OpError](err); !ok {
			t.Errorf("the connection is still open: %v", err)
		}
	}
}

func TestReceive_refuses_addresses_that_others_reach(t *testing.T) {
	for addr, refused := range map[string]bool{
		":8080": true, "0.0.0.0:0": true, "[::]:0": true, "example.com:80": true, "10.0.0.1:0": true,
		"127.0.0.1:0": false, "localhost:0": false, "[::1]:0": false, "127.8.8.8:0": false,
	} {
		err := httpin.Lines(addr, httpin.Options{}).Validate()
		insecure, ok := errors.AsType[*httpin.InsecureAddrError](err)
		if ok != refused || ok && insecure.Addr != addr || !ok && err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		if refused {
			if err := httpin.Lines(addr, httpin.Options{}).Receive(t.Context(), nil); !errors.As(err, &insecure) {
				t.Errorf("%s: Receive = %v", addr, err)
			}
		}
		if err := httpin.Lines(addr, httpin.Options{TLS: &tls.Config{}}).Validate(); err != nil {
			t.Errorf("%s with TLS: %v", addr, err)
		}
	}
	for _, r := range []*httpin.Receiver[string]{httpin.Lines("nowhere", httpin.Options{}), httpin.Lines("", httpin.Options{MaxBody: -1})} {
		if _, ok := errors.AsType[*receivers.OptionError](r.Receive(t.Context(), nil)); !ok {
			t.Errorf("%v: no OptionError", r)
		}
	}
}

func TestReceive_encrypts(t *testing.T) {
	example := httptest.NewUnstartedServer(nil)
	example.StartTLS() // for its certificate
	defer example.Close()
	addr := make(chan string, 1)
	lines := httpin.Lines("127.0.0.1:0", httpin.Options{TLS: example.TLS, Listening: func(a net.Addr) { addr <- a.String() }})
	ctx, cancel := context.WithCancel(t.Context())
	var sink receiverstest.Sink[string]
	ended := make(chan error, 1)
	go func() { ended <- lines.Receive(ctx, &sink) }()
	answer, err := example.Client().Post("https://"+<-addr, "text/plain", strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	example.Client().CloseIdleConnections()
	cancel()
	if err := <-ended; answer.StatusCode != 204 || err != context.Canceled {
		t.Errorf("%s, Receive = %v", answer.Status, err)
	}
	if diff := cmp.Diff([]string{"secret"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestReceive_says_that_an_address_is_taken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = httpin.Lines(l.Addr().String(), httpin.Options{}).Receive(t.Context(), &receiverstest.Sink[string]{})
	if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Errorf("Receive = %v", err)
	}
}

// explosive is a record whose decoding panics.
type explosive struct{}

func (*explosive) UnmarshalJSON([]byte) error { panic("no") }
