package boltlog_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

var rewrite = flag.Bool("rewrite", false, "write the golden log anew; only right before a format is released")

// TestFormat opens logs that earlier versions wrote. The file is golden in what it holds, not in its bytes: an identity is random.
func TestFormat(t *testing.T) {
	const golden = "driver.v1"
	if *rewrite {
		writeGolden(t, golden)
	}
	t.Run("log_version_1", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "driver.db")
		readGolden(t, golden).write(t, path)
		var b strings.Builder
		info, err := boltlog.Dump(path, func(e boltlog.Entry) error {
			_, err := fmt.Fprintf(&b, "%d %x\n", e.Index, e.Command.Append(nil))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "snapshot %d, state %x\n", info.Snapshot, info.State.Append(nil))
		name := filepath.Join("testdata", golden+".txt")
		if *rewrite {
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != string(want) {
			t.Errorf("the log holds\n%swant\n%s", got, want)
		}
		log := open(t, path, 0)
		lead(t, log).batches(t, 2)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func writeGolden(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "driver.db")
	log := open(t, path, 10)
	r := lead(t, log)
	r.propose(t, r.application())
	r.batches(t, 5)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	img := readImage(t, path)
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	if _, err := w.Write(img.file); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{name + ".db.gz": file.Bytes(), name + ".tail.hex": []byte(hex.EncodeToString(img.tail) + "\n")} {
		if err := os.WriteFile(filepath.Join("testdata", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readGolden(t *testing.T, name string) (img image) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if img.file, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", name+".tail.hex"))
	if err != nil {
		t.Fatal(err)
	}
	if img.tail, err = hex.DecodeString(strings.TrimSpace(string(text))); err != nil {
		t.Fatal(err)
	}
	return img
}
