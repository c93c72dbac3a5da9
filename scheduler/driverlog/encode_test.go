package driverlog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// goldenCommands2 goes on with the kinds that version 2 has added.
func goldenCommands2() []driverlog.Command {
	described := application(1, "counts", 1_700_000_000_000, "three streams")
	described.Request = driverlog.RequestID{Proposer: 1, Seq: 2}
	third := checkpointed(1, "counts", 2, 2, "files of 2")
	third.Request = driverlog.RequestID{Proposer: 1, Seq: 3}
	fresh := begin(1, "late", 0, 1000)
	fresh.Inputs = []driverlog.Input{{Stream: 3, Data: []byte("block 7")}}
	return append(goldenCommands(),
		described, application(1, "late", 0, ""), committed(1, "counts", 1), checkpointed(1, "counts", 1, 0, ""),
		fresh, prepared(1, "late", 0, "manifest"), committed(1, "late", 0), application(1, "late", 0, "one stream"),
		prepared(1, "counts", 2, "manifest 2"), committed(1, "counts", 2), third, checkpointed(1, "late", 0, 1, "files of 0"),
	)
}

// goldenCommands3 goes on with Control, which version 3 has added.
func goldenCommands3() []driverlog.Command {
	remembered := controlled(1, "counts", driverlog.Running)
	remembered.Request = driverlog.RequestID{Proposer: 1, Seq: 4}
	return append(goldenCommands2(), controlled(1, "counts", driverlog.Paused), controlled(1, "late", driverlog.Stopped), remembered, controlled(1, "late", driverlog.Running))
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
	t.Run("commands_version_1_are_read", func(t *testing.T) {
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
	t.Run("states_version_1_are_read", func(t *testing.T) {
		m := &machine{}
		for i, data := range readGolden(t, "state.v1.hex") {
			if i > 0 {
				m.must(t, goldenCommands()[i-1])
			}
			got, err := driverlog.DecodeState(data)
			if err != nil {
				t.Fatalf("state %d: %v", i, err)
			}
			if diff := cmp.Diff(hex.EncodeToString(m.Append(nil)), hex.EncodeToString(got.Append(nil))); diff != "" {
				t.Errorf("state %d (-want +got):\n%s", i, diff)
			}
		}
		if m.Index != 8 {
			t.Errorf("the last state has index %d, want 8", m.Index)
		}
	})
	t.Run("commands_version_2", func(t *testing.T) {
		var lines []string
		for _, c := range goldenCommands2() {
			lines = append(lines, hex.EncodeToString(c.Append(nil)))
		}
		golden(t, "commands.v2.hex", lines)
		for i, data := range readGolden(t, "commands.v2.hex") {
			got, err := driverlog.DecodeCommand(data)
			if err != nil {
				t.Fatalf("command %d: %v", i, err)
			}
			if diff := cmp.Diff(goldenCommands2()[i], got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("command %d (-want +got):\n%s", i, diff)
			}
		}
	})
	t.Run("states_version_2", func(t *testing.T) {
		m := &machine{}
		lines := []string{hex.EncodeToString(m.Append(nil))}
		for _, c := range goldenCommands2() {
			m.must(t, c)
			lines = append(lines, hex.EncodeToString(m.Append(nil)))
		}
		golden(t, "state.v2.hex", lines)
		records := readGolden(t, "state.v2.hex")
		got, err := driverlog.DecodeState(records[len(records)-1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m.Apps, got.Apps, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("applications (-want +got):\n%s", diff)
		}
		if got.Index != 20 || got.Apps[0].Status != driverlog.Running || got.Epoch != 1 || got.Leader != "driver-1" {
			t.Errorf("state of index %d, epoch %d, leader %q", got.Index, got.Epoch, got.Leader)
		}
	})
}

// What was written before Control is written as it was; only what has to do with one has version 3.
func TestFormatVersion3(t *testing.T) {
	first := len(goldenCommands2())
	var lines []string
	for _, c := range goldenCommands3()[first:] {
		lines = append(lines, hex.EncodeToString(c.Append(nil)))
	}
	golden(t, "commands.v3.hex", lines)
	for i, data := range readGolden(t, "commands.v3.hex") {
		got, err := driverlog.DecodeCommand(data)
		if diff := cmp.Diff(goldenCommands3()[first+i], got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("command %d: %v (-want +got):\n%s", i, err, diff)
		}
	}
	m := &machine{}
	lines = nil
	for i, c := range goldenCommands3() {
		m.must(t, c)
		if i >= first {
			lines = append(lines, hex.EncodeToString(m.Append(nil)))
		}
	}
	golden(t, "state.v3.hex", lines)
	for i, data := range readGolden(t, "state.v3.hex") {
		got, err := driverlog.DecodeState(data)
		if err != nil {
			t.Fatal(err)
		}
		want := [][2]driverlog.Status{{driverlog.Paused, driverlog.Running}, {driverlog.Paused, driverlog.Stopped}, {driverlog.Running, driverlog.Stopped}, {}}[i]
		if have := [2]driverlog.Status{got.App("counts").Status, got.App("late").Status}; have != want || data[3] != 3 {
			t.Errorf("state %d has version %d and statuses %v, want 3 and %v", i, data[3], have, want)
		}
	}
	// Once no Control is remembered, and all run, builds that know of none can read it again.
	for seq := range uint64(driverlog.Remembered) {
		c := lead("driver-1")
		c.Request = driverlog.RequestID{Proposer: 9, Seq: seq + 1}
		m.must(t, c)
	}
	if data := m.Append(nil); data[3] != 2 {
		t.Errorf("a state without a trace of Control has version %d", data[3])
	}
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
		data[0] = 4
		_, err := driverlog.DecodeCommand(data)
		var version *driverlog.VersionError
		if !errors.As(err, &version) || version.Got != 4 || version.Known != 3 {
			t.Errorf("DecodeCommand = %v, want a VersionError with Got 4, Known 3", err)
		}
	})
	t.Run("kinds_of_version_2_are_refused_in_version_1", func(t *testing.T) {
		// The encodings of an application without keep.
		data := []byte{1, byte(driverlog.Application), 0, 0, 1, 0, 1, 'a', 0, 0, 0, 0}
		var corrupt *driverlog.CorruptError
		if _, err := driverlog.DecodeCommand(data); !errors.As(err, &corrupt) {
			t.Errorf("DecodeCommand = %v, want a CorruptError", err)
		}
		data = []byte{2, byte(driverlog.Application), 0, 0, 1, 0, 1, 'a', 0, 0, 0, 0, 0}
		if _, err := driverlog.DecodeCommand(data); err != nil {
			t.Errorf("the same of version 2: %v", err)
		}
	})
	t.Run("a_version_has_its_kinds_alone", func(t *testing.T) {
		var corrupt *driverlog.CorruptError
		for _, c := range []driverlog.Command{controlled(1, "a", driverlog.Paused), committed(1, "a", 0)} {
			data := c.Append(nil)
			data[0] = 5 - data[0]
			if _, err := driverlog.DecodeCommand(data); !errors.As(err, &corrupt) {
				t.Errorf("%s of version %d = %v, want a CorruptError", c.Kind, data[0], err)
			}
		}
		m := busy(t)
		data := m.Append(nil)
		data[3] = 3
		if _, err := driverlog.DecodeState(withChecksum(data[:len(data)-4])); !errors.As(err, &corrupt) {
			t.Errorf("DecodeState = %v, want a CorruptError", err)
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
	for _, data := range slices.Concat(readGolden(f, "commands.v1.hex"), readGolden(f, "commands.v2.hex"), readGolden(f, "commands.v3.hex")) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := driverlog.DecodeCommand(data)
		if err != nil {
			return
		}
		now := c.Append(nil)
		if data[0] == now[0] && !bytes.Equal(now, data) {
			t.Errorf("%x decodes and encodes to %x", data, now)
		}
		// An older version is written anew as the latest one and means the same.
		again, err := driverlog.DecodeCommand(now)
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Errorf("%x decodes to another command the second time: %v %s", data, err, diff)
		}
	})
}

// FuzzDecodeState gives the bytes a right checksum, so that the fields behind it are reached.
func FuzzDecodeState(f *testing.F) {
	for _, data := range slices.Concat(readGolden(f, "state.v1.hex"), readGolden(f, "state.v2.hex"), readGolden(f, "state.v3.hex")) {
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
		now := s.Append(nil)
		if data[3] == now[3] && !bytes.Equal(now, data) {
			t.Errorf("%x decodes and encodes to %x", data, now)
		}
		if again, err := driverlog.DecodeState(now); err != nil || again.Digest() != s.Digest() {
			t.Errorf("%x decodes to another state the second time: %v", data, err)
		}
		// Whatever decodes must carry on.
		if s.Index < 1<<62 {
			if _, err := driverlog.Step(&s, s.Index+1, lead("n")); err != nil {
				t.Errorf("Step on a decoded state: %v", err)
			}
		}
	})
}
