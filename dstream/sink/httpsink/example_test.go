package httpsink_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/leat-io/leat/dstream/sink/httpsink"
)

func ExampleNew() {
	type count struct {
		Word string `json:"word"`
		N    int    `json:"n"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Header.Get(httpsink.KeyHeader))
		fmt.Print(string(body))
	}))
	defer server.Close()
	defer server.Client().CloseIdleConnections()
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	to := httpsink.New(dir, server.URL, httpsink.Options[count]{Rows: 2, Client: server.Client()})
	ctx := context.Background()
	staged, err := stage(ctx, to, batch(0), "1.1", []count{{"a", 1}, {"b", 2}, {"c", 3}}) // what a driver and its tasks do
	if err == nil {
		err = to.Commit(ctx, batch(0), staged)
	}
	fmt.Println(err, to.Promise())
	// Output:
	// app/out/0/0/0
	// {"word":"a","n":1}
	// {"word":"b","n":2}
	// app/out/0/0/2
	// {"word":"c","n":3}
	// <nil> at least once
}

func ExampleKey() {
	fmt.Println(httpsink.Key(batch(7), 1, 500))
	// Output: app/out/7/1/500
}
