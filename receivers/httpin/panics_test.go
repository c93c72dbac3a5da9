package httpin_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leat-io/leat/receivers/httpin"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestJSON_tells_of_a_decoder_that_panics(t *testing.T) {
	records := httpin.JSON[explosive]("", httpin.Options{})
	answer := httptest.NewRecorder()
	records.ServeHTTP(answer, httptest.NewRequest("POST", "/", strings.NewReader("{}")))
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "record 1 (byte 0): decoding panicked: no") {
		t.Errorf("answer %d %q", answer.Code, answer.Body)
	}
}

func TestReceive_leaves_no_server_behind_a_Listening_that_panics(t *testing.T) {
	var at net.Addr
	lines := httpin.Lines("localhost:0", httpin.Options{Listening: func(a net.Addr) {
		at = a
		panic("no")
	}})
	func() {
		defer func() { _ = recover() }() // the supervisor does so
		var sink receiverstest.Sink[string]
		t.Errorf("Receive = %v", lines.Receive(t.Context(), &sink))
	}()
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatalf("the address is still taken: %v", err)
	}
	l.Close()
}
