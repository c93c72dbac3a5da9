package objectlog_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
)

// damaged returns a store with a log of two snapshots and entries behind them, closed.
func damaged(t *testing.T) *blobtest.Memory {
	t.Helper()
	m := blobtest.NewMemory()
	log := open(t, m, objectlog.Options{SnapshotEvery: 9})
	lead(t, log).batches(t, 8)
	closeLog(t, log)
	return m
}

func set(t *testing.T, m *blobtest.Memory, name string, data []byte) {
	t.Helper()
	err := m.Put(context.Background(), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, m *blobtest.Memory, name string) []byte {
	t.Helper()
	data, _, err := m.Read(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refused opens the log in m, which must name one of the objects, and leave all as it is.
func refused(t *testing.T, m *blobtest.Memory, what string, names ...string) {
	t.Helper()
	_, verr := objectlog.Verify(context.Background(), m, "")
	_, oerr := objectlog.Open(context.Background(), m, objectlog.Options{})
	for call, err := range map[string]error{"Verify": verr, "Open": oerr} {
		var corrupt *objectlog.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: %s = %v, want a CorruptError", what, call, err)
			continue
		}
		for _, name := range names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %s = %v, want it to name %s", what, call, err, name)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	whole := damaged(t)
	// Four drivers' worth: 1 leader start and 8 batches of 3 entries, snapshots after 10 and 19.
	var entries, snapshots []string
	for _, name := range whole.Names() {
		switch {
		case strings.HasPrefix(name, "driver/log/"):
			entries = append(entries, name)
		case strings.HasPrefix(name, "driver/snapshot/"):
			snapshots = append(snapshots, name)
		}
	}
	if len(snapshots) != 2 || len(entries) < 4 {
		t.Fatalf("objects %q", whole.Names())
	}
	behind := entries[len(entries)-2:]
	changes := func(data []byte) map[string][]byte {
		c := map[string][]byte{"emptied": {}, "cut": data[:len(data)-1], "longer": append(bytes.Clone(data), 0), "zeros": make([]byte, len(data))}
		for i := 0; i < len(data); i += 1 + len(data)/60 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			c[fmt.Sprintf("bit in byte %d", i)] = flipped
		}
		return c
	}
	t.Run("of_entries_is_named", func(t *testing.T) {
		for _, name := range behind {
			for what, data := range changes(get(t, whole, name)) {
				m := whole.Copy()
				set(t, m, name, data)
				refused(t, m, what, name)
			}
		}
	})
	t.Run("of_the_newest_snapshot_costs_nothing", func(t *testing.T) {
		for what, data := range changes(get(t, whole, snapshots[1])) {
			m := whole.Copy()
			set(t, m, snapshots[1], data)
			info, err := objectlog.Verify(t.Context(), m, "")
			if err != nil || info.Damaged == nil || !strings.Contains(info.Damaged.Error(), snapshots[1]) || info.State.App("app").Next != 8 {
				if data := get(t, m, snapshots[1]); len(data) > 4 && data[4] != 1 {
					continue // another version is not damage
				}
				t.Fatalf("%s: Verify = %+v, %v", what, info, err)
			}
			log := open(t, m, objectlog.Options{SnapshotEvery: 9})
			lead(t, log).batches(t, 20)
			closeLog(t, log)
			if info, err := objectlog.Verify(t.Context(), m, ""); err != nil || info.Damaged != nil || info.State.App("app").Next != 28 {
				t.Errorf("%s: Verify after 20 batches = %+v, %v", what, info, err)
			}
		}
	})
	t.Run("of_both_snapshots_is_named", func(t *testing.T) {
		m := whole.Copy()
		set(t, m, snapshots[0], nil)
		set(t, m, snapshots[1], nil)
		refused(t, m, "both emptied", snapshots...)
	})
	t.Run("missing_objects_are_named", func(t *testing.T) {
		m := whole.Copy()
		if err := m.Remove(t.Context(), behind[0]); err != nil {
			t.Fatal(err)
		}
		refused(t, m, "one in the middle", behind[0])
		m = whole.Copy()
		if err := m.Remove(t.Context(), behind[1]); err != nil {
			t.Fatal(err)
		}
		refused(t, m, "the last", behind[1])
		m = whole.Copy()
		if err := blobstore.RemoveAll(t.Context(), m, "driver/snapshot/"); err != nil {
			t.Fatal(err)
		}
		refused(t, m, "the snapshots")
		m = whole.Copy()
		if err := errors.Join(blobstore.RemoveAll(t.Context(), m, "driver/snapshot/"), blobstore.RemoveAll(t.Context(), m, "driver/log/")); err != nil {
			t.Fatal(err)
		}
		refused(t, m, "everything", "driver/log/00000000000000000001")
	})
	t.Run("an_object_of_another_log_is_named", func(t *testing.T) {
		other, m := damaged(t), whole.Copy()
		set(t, m, behind[1], get(t, other, behind[1]))
		refused(t, m, "another log", behind[1], "another log")
	})
	t.Run("an_object_under_another_name_is_named", func(t *testing.T) {
		m := whole.Copy()
		set(t, m, behind[1], get(t, m, behind[0]))
		refused(t, m, "swapped", behind[1])
		m = whole.Copy()
		set(t, m, "driver/log/x", nil)
		refused(t, m, "a stray name", "driver/log/x")
	})
	t.Run("a_damaged_owner_record_is_named", func(t *testing.T) {
		for _, data := range []string{"", "{", strings.Repeat(" ", 20<<10)} {
			m := whole.Copy()
			set(t, m, "driver/owner", []byte(data))
			refused(t, m, data, "driver/owner")
		}
	})
	t.Run("another_version_of_a_snapshot_is_refused", func(t *testing.T) {
		m := whole.Copy()
		data := get(t, m, snapshots[1])
		data[4] = 2
		set(t, m, snapshots[1], objectlog.Reseal(data))
		refused(t, m, "version 2", snapshots[1], (&driverlog.VersionError{Got: 2, Known: 1}).Error())
	})
}

func TestFormat(t *testing.T) {
	cmds := []driverlog.Command{
		{Kind: driverlog.LeaderStart, Node: "n1"},
		{Kind: driverlog.Begin, Epoch: 1, App: "app", Time: 1000, Inputs: []driverlog.Input{{Stream: 1, Data: []byte("x")}}},
	}
	got := fmt.Sprintf("entries  %s\nsnapshot %s\n", hex.EncodeToString(objectlog.EncodeEntries(1, cmds)), hex.EncodeToString(objectlog.EncodeSnapshot(cmds)))
	file := filepath.Join("testdata", "objects.v1.hex")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the format has changed; %s should hold\n%s", file, got)
	}
}

func FuzzDecode(f *testing.F) {
	cmds := []driverlog.Command{{Kind: driverlog.LeaderStart, Node: "n1"}}
	f.Add(objectlog.EncodeEntries(1, cmds))
	f.Add(objectlog.EncodeSnapshot(cmds))
	f.Fuzz(func(t *testing.T, data []byte) {
		again, ok := objectlog.Recode(objectlog.Reseal(data))
		if !ok {
			return
		}
		if third, ok := objectlog.Recode(again); !ok || !bytes.Equal(again, third) {
			t.Errorf("decoded and encoded again: %x, and once more: %x", again, third)
		}
	})
}
