package web_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/web"
)

// lines prints the lines of an answer that hold one of the words.
func lines(h http.Handler, path string, words ...string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	for in := bufio.NewScanner(w.Body); in.Scan(); {
		for _, word := range words {
			if strings.Contains(in.Text(), word) {
				fmt.Println(strings.TrimSpace(in.Text()))
			}
		}
	}
}

func Example() {
	store := progress.New(progress.Options{App: "counts", Interval: time.Second})
	// In a program: defer store.Attach(ssc)()
	store.Listener().BatchCompleted(streamingcontext.BatchInfo{Time: 1000, Submitted: 1000, Started: 1010, Ended: 1250})
	ui, err := web.New(store, web.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// In a program: ui.Run(ctx, "localhost:4040")
	lines(ui, "/streaming/", "<h2")
	lines(ui, "/streaming/batches/1000", "status", "totalDelay")
	// Output:
	// <h2 id="active">Active Batches (0)</h2>
	// <h2 id="completed">Completed Batches (last 1 out of 1)</h2>
	// "status": "COMPLETED",
	// "totalDelay": 250,
}

func ExampleOptions_String() {
	fmt.Println(web.Options{Zone: time.UTC})
	// Output: refresh 5s, zone UTC, metrics false, TLS false
}

func ExampleNew() {
	_, err := web.New(progress.New(progress.Options{}), web.Options{Refresh: time.Millisecond})
	fmt.Println(err)
	// Output: web options: Refresh is not a whole number of seconds
}
