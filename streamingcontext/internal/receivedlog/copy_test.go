package receivedlog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// Addresses with an epoch have an encoding of their own, and order by it first; those without are as they were.
func TestAddressesWithAnEpoch(t *testing.T) {
	for _, c := range []struct {
		at   receivedlog.Address
		want string
	}{
		{receivedlog.Address{Stream: 3, Segment: 1, Offset: 40, Length: 300, Sum: 0x01020304}, "060128ac0204030201"},
		{receivedlog.Address{Epoch: 5, Stream: 3, Segment: 1, Offset: 40, Length: 300, Sum: 0x01020304}, "868080801005" + "0128ac0204030201"},
		{receivedlog.Address{Epoch: 1 << 63, Stream: -1 << 31, Segment: 9}, "ffffffff1f80808080808080808001" + "09000000000000"},
		{receivedlog.Address{Epoch: 1}, "808080801001" + "00000000000000"},
	} {
		data := c.at.Append(nil)
		if got := hex.EncodeToString(data); got != c.want {
			t.Errorf("%v is %s, want %s", c.at, got, c.want)
		}
		got, rest, err := receivedlog.DecodeAddress(append(data, 7))
		if err != nil || got != c.at || !bytes.Equal(rest, []byte{7}) {
			t.Errorf("%v came back as %v, rest %v, %v", c.at, got, rest, err)
		}
	}
	zero, err := hex.DecodeString("808080801000" + "00000000000000") // with an epoch that is none
	if err != nil {
		t.Fatal(err)
	}
	if at, _, err := receivedlog.DecodeAddress(zero); err == nil {
		t.Errorf("an epoch of zero: %v", at)
	}
	old, new := receivedlog.Address{Epoch: 1, Segment: 9}, receivedlog.Address{Epoch: 2, Segment: 1}
	if old.Compare(new) >= 0 || new.Compare(old) <= 0 || (receivedlog.Address{Segment: 99}).Compare(old) >= 0 {
		t.Error("epochs do not come first")
	}
}

// What Prefix takes one after the other is the whole segment, header and groups apart, and a copy that is made so is found whole; changed in any byte it is
// not.
func TestCopiesOfASegment(t *testing.T) {
	dir := t.TempDir()
	log, err := receivedlog.Open(dir, receivedlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := put(t, log, "one", "two", "", "four")
	extents := log.Durable()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, receivedlog.SegmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]receivedlog.Extent{{Segment: 1, End: int64(len(data))}}, extents); diff != "" {
		t.Errorf("durable: %s", diff)
	}
	var pieces []int
	for from := 0; from < len(data); {
		n := receivedlog.Prefix(1, int64(from), data[from:], 1<<20)
		if n == 0 {
			t.Fatalf("nothing at byte %d", from)
		}
		pieces = append(pieces, n)
		from += n
	}
	if len(pieces) != 5 || pieces[0] != receivedlog.HeaderBytes { // each put is a group
		t.Errorf("pieces of %v bytes", pieces)
	}
	whole := []receivedlog.Part{{From: 0, To: int64(len(data))}}
	survey := look(t, data)
	if diff := cmp.Diff(whole, survey.Parts); diff != "" || survey.Before != 0 || len(survey.Lost) > 0 {
		t.Errorf("%+v %s", survey, diff)
	}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		survey := look(t, bad)
		if cmp.Equal(whole, survey.Parts) {
			t.Errorf("byte %d was changed, and all is whole", i)
		}
		last := int64(i) >= at[3].Offset
		if (len(survey.Lost) > 0) == last {
			t.Errorf("byte %d was changed, lost is %v", i, survey.Lost)
		}
		for _, d := range survey.Lost {
			if d.Offset > int64(i) || d.Offset+d.Length <= int64(i) {
				t.Errorf("byte %d was changed, lost is %v", i, d)
			}
		}
	}
	for _, a := range at {
		a.Epoch = 7
		raw, err := receivedlog.ReadRecord(bytes.NewReader(data), int64(len(data)), "copy", a)
		if err != nil || int64(len(raw)) != receivedlog.RecordBytes(int(a.Length), len(raw)-28-int(a.Length)) {
			t.Errorf("%v: %d bytes, %v", a, len(raw), err)
		}
		if _, err := receivedlog.Block(raw, a); err != nil {
			t.Error(err)
		}
		a.Sum++
		var damage *receivedlog.DamageError
		if _, err := receivedlog.Block(raw, a); !errors.As(err, &damage) {
			t.Errorf("another record: %v", err)
		}
	}
}

func look(t *testing.T, data []byte) receivedlog.Survey {
	t.Helper()
	n := 0
	survey, err := receivedlog.Look(bytes.NewReader(data), "copy", 1, int64(len(data)), func(e receivedlog.Entry) error {
		n++
		if e.Address.Segment != 1 {
			return fmt.Errorf("%v", e.Address)
		}
		return nil
	})
	if err != nil {
		if _, ok := errors.AsType[*receivedlog.VersionError](err); !ok {
			t.Fatal(err)
		}
	}
	return survey
}
