package cluster_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/streamingcontext/cluster"
)

// A driver that is of no cluster yet says what it waits for, so that nobody wonders why nothing happens.
func TestANewDriverSaysWhatItWaitsFor(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, folder string
		opts         cluster.Options
		waits        bool
	}{
		{"to be joined", "new", cluster.Options{Listen: "127.0.0.1:0"}, true},
		{"the first", "first", cluster.Options{Listen: "127.0.0.1:0", Bootstrap: true}, false},
		{"the first, again", "first", cluster.Options{Listen: "127.0.0.1:0"}, false},
		{"alone", "alone", cluster.Options{Bootstrap: true}, false},
	} {
		var said bytes.Buffer
		c.opts.Name, c.opts.Logger = "a", slog.New(slog.NewTextHandler(&said, nil))
		n, err := cluster.Open(filepath.Join(dir, c.folder), c.opts)
		if err != nil {
			t.Fatal(err)
		}
		id := n.Log().ID()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if waits := strings.Contains(said.String(), `msg="driver waits until a cluster takes it in, see leat cluster join" id=`+id+" address=127.0.0.1:"); waits != c.waits {
			t.Errorf("%s: it has said\n%s", c.name, &said)
		}
	}
}
