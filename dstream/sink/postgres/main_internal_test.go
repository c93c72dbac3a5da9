package postgres

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// dsn is a server that nothing else uses: tests make tables and a role there, and end connections. Without it they have a double.
var dsn = flag.String("postgres", "", "run on the server at this URL, which nothing else may use")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}
