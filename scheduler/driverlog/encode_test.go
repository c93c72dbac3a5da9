package driverlog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler/driverlog"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; only right before a format is released")

// goldenCommands has one command of each kind and one with every extreme.
func goldenCommands() []driverlog.Command {
	leader := lead("driver-1")
	leader.Request = driverlog.RequestID{Proposer: 0xfedcba9876543210, Seq: 1}
	first := begin(1, "counts", 0, 1_700_000_000_000)
	first.Request = driverlog.RequestID{Proposer: 1, Seq: 1}
	first.Inputs = []driverlog.Input{{Stream: 1, Data: []byte("topic-0: 0-17")}, {Stream: -2147483648}}
	early := begin(1, "early", 0, -1<<63)
	return []driverlog.Command{
		leader, first, prepared(1, "counts", 0, "manifest 0"), begin(1, "counts", 1, 1_700_000_001_000),
		committed(1, "counts", 0), early, prepared(1, "counts", 1, ""), begin(1, "counts", 2, 1<<63-1),
	}
}

func golden(t *testing.T, name string, got []string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text := strings.Join(got, "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// readGolden returns the records of a golden file, one a line in hexadecimal.
func readGolden(t testing.TB, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for line := range strings.Lines(string(text)) {
		data, err := hex.DecodeString(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

func TestFormat(t *testing.T) {
	t.Run("commands_version_1", func(t *testing.T) {
		var lines []string
		for _, c := range goldenCommands() {
			lines = append(lines, hex.EncodeToString(c.Append(nil)))
		}
		golden(t, "commands.v1.hex", lines)
		for i, data := range readGolden(t, "commands.v1.hex") {
			got, err := driverlog.DecodeCommand(data)
			if err != nil {
				t.Fatalf("command %d: %v", i, err)
			}
			if diff := cmp.Diff(hex.EncodeToString(goldenCommands()[i].Append(nil)), hex.EncodeToString(got.Append(nil))); diff != "" {
				t.Errorf("command %d (-want +got):\n%s", i, diff)
			}
		}
	})
	t.Run("state_version_1", func(t *testing.T) {
		m := &machine{}
		lines := []string{hex.EncodeToString(m.Append(nil))}
		for _, c := range goldenCommands() {
			m.must(t, c)
			lines = append(lines, hex.EncodeToString(m.Append(nil)))
		}
		golden(t, "state.v1.hex", lines)
		records := readGolden(t, "state.v1.hex")
		got, err := driverlog.DecodeState(records[len(records)-1])
		if err != nil {
			t.Fatal(err)
		}
		want := m.Clone()
		if diff := cmp.Diff(want.Apps, got.Apps); diff != "" {
			t.Errorf("applications (-want +got):\n%s", diff)
		}
		if got.Index != 8 || got.Epoch != 1 || got.Leader != "driver-1" {
			t.Errorf("state of index %d, epoch %d, leader %q", got.Index, got.Epoch, got.Leader)
		}
	})
}

func TestDecode(t *testing.T) {
	t.Run("every_truncation_and_changed_byte_of_a_state_is_found", func(t *testing.T) {
		m := busy(t)
		data := m.Append(nil)
		for i := range data {
			if _, err := driverlog.DecodeState(data[:i]); err == nil {
				t.Errorf("the first %d bytes were accepted", i)
			}
			bad := bytes.Clone(data)
			bad[i] ^= 0x40
			_, err := driverlog.DecodeState(bad)
			var corrupt *driverlog.CorruptError
			var version *driverlog.VersionError
			if !errors.As(err, &corrupt) && !errors.As(err, &version) {
				t.Errorf("byte %d changed: %v, want a CorruptError or VersionError", i, err)
			}
		}
		if _, err := driverlog.DecodeState(append(data, 0)); err == nil {
			t.Error("a trailing byte was accepted")
		}
	})
	t.Run("every_truncation_of_a_command_is_found", func(t *testing.T) {
		data := goldenCommands()[1].Append(nil)
		for i := range data {
			if _, err := driverlog.DecodeCommand(data[:i]); err == nil {
				t.Errorf("the first %d bytes were accepted", i)
			}
		}
	})
	t.Run("newer_versions_are_named", func(t *testing.T) {
		data := goldenCommands()[0].Append(nil)
		data[0] = 2
		_, err := driverlog.DecodeCommand(data)
		var version *driverlog.VersionError
		if !errors.As(err, &version) || version.Got != 2 || version.Known != 1 {
			t.Errorf("DecodeCommand = %v, want a VersionError with Got 2, Known 1", err)
		}
	})
	t.Run("announced_sizes_are_not_allocated", func(t *testing.T) {
		// 4096 inputs are announced and none follows.
		data := []byte{1, byte(driverlog.Begin), 0, 0, 1, 0, 1, 'a', 0, 0, 0x80, 0x20}
		allocs := testing.AllocsPerRun(10, func() {
			if _, err := driverlog.DecodeCommand(data); err == nil {
				t.Error("accepted")
			}
		})
		if allocs > 4 {
			t.Errorf("%v allocations", allocs)
		}
	})
	t.Run("longer_forms_of_numbers_are_refused", func(t *testing.T) {
		c := committed(1, "a", 0)
		data := c.Append(nil)
		long := append([]byte{data[0], data[1], 0x80, 0x00}, data[3:]...)
		if _, err := driverlog.DecodeCommand(long); err == nil {
			t.Error("a two-byte zero was accepted")
		}
	})
}

func FuzzDecodeCommand(f *testing.F) {
	for _, data := range readGolden(f, "commands.v1.hex") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := driverlog.DecodeCommand(data)
		if err == nil && !bytes.Equal(c.Append(nil), data) {
			t.Errorf("%x decodes and encodes to %x", data, c.Append(nil))
		}
	})
}

// FuzzDecodeState gives the bytes a right checksum, so that the fields behind it are reached.
func FuzzDecodeState(f *testing.F) {
	for _, data := range readGolden(f, "state.v1.hex") {
		f.Add(data[:len(data)-4])
	}
	m := busy(f)
	data := m.Append(nil)
	f.Add(data[:len(data)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		data := withChecksum(body)
		s, err := driverlog.DecodeState(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Append(nil), data) {
			t.Errorf("%x decodes and encodes to %x", data, s.Append(nil))
		}
		// Whatever decodes must carry on.
		if s.Index < 1<<62 {
			if _, err := driverlog.Step(&s, s.Index+1, lead("n")); err != nil {
				t.Errorf("Step on a decoded state: %v", err)
			}
		}
	})
}
