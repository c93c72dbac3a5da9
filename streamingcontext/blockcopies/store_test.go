package blockcopies

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// What a disk did not take is not told of, though it was there before, until it is written again.
func TestAWriteThatFailsIsNotTold(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "log")
	log, err := receivedlog.Open(origin, receivedlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), 0, []byte("block"), nil); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(origin, receivedlog.SegmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(filepath.Join(t.TempDir(), "copies"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	p, header, record := place{5, 1}, data[:receivedlog.HeaderBytes], data[receivedlog.HeaderBytes:]
	write := func() error { return s.write(5, p, receivedlog.HeaderBytes, record) }
	if err := s.write(5, p, 0, header); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	_ = s.file.Close() // the disk goes
	if err := write(); err == nil {
		t.Fatal("written to a file that is closed")
	}
	if got := partsOf(s.holdings(), p).end(); got != receivedlog.HeaderBytes {
		t.Errorf("told of %d bytes", got)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if got := partsOf(s.holdings(), p).end(); got != int64(len(data)) {
		t.Errorf("told of %d bytes", got)
	}
	if err := s.write(4, p, 0, header); err == nil {
		t.Error("a log of an epoch that is newer than its leader")
	}
}
