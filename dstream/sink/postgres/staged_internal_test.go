package postgres

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestStagedBytesStayWhatTheyAre(t *testing.T) {
	st := staging{batch: 300, parts: []part{{0, "1.1.7", 2}, {5, "a", 1 << 20}}}
	want := "\x01\xac\x02\x02\x00\x051.1.7\x02\x05\x01a\x80\x80\x40"
	if got := st.append(nil); string(got) != want {
		t.Errorf("staged bytes are %q, want %q", got, want)
	}
}

func TestStagedBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := staging{batch: rapid.Int64Min(0).Draw(t, "batch")}
		index := 0
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			index += rapid.IntRange(1, 1000).Draw(t, "gap")
			st.parts = append(st.parts, part{index, rapid.StringMatching(`[a-zA-Z0-9.-]{1,40}`).Draw(t, "attempt"), rapid.Int64Min(1).Draw(t, "rows")})
		}
		data := st.append(nil)
		back, err := decodeStaged(data)
		if err != nil || !bytes.Equal(back.append(nil), data) {
			t.Fatalf("%v becomes %v, %v", st, back, err)
		}
		if cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut"); true {
			if back, err := decodeStaged(data[:cut]); err == nil {
				t.Fatalf("%d of %d bytes become %v", cut, len(data), back)
			}
		}
	})
}

func FuzzStaged(f *testing.F) {
	f.Add(staging{batch: 1, parts: []part{{0, "a", 1}}}.append(nil))
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := decodeStaged(data)
		if err != nil {
			return
		}
		if again, err := decodeStaged(st.append(nil)); err != nil || len(again.parts) != len(st.parts) {
			t.Errorf("%v becomes %v, %v", st, again, err)
		}
	})
}
