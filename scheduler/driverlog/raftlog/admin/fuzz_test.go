package admin

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func FuzzRequest(f *testing.F) {
	for _, r := range []request{
		{Kind: statusRequest}, {Kind: joinRequest, Member: &Member{ID: id1, Name: "driver-1", Address: "a:1", Voter: true}},
		{Kind: removeRequest, ID: id1}, {Kind: transferRequest, WaitMS: 5}, {Kind: snapshotRequest},
	} {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decodeRequest(text)
		if err != nil {
			if e := (*RequestError)(nil); !errors.As(err, &e) || len(e.What) > 4<<10 {
				t.Fatalf("%.200v of %d bytes", err, len(err.Error()))
			}
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if r2, err := decodeRequest(again); err != nil || !reflect.DeepEqual(r, r2) {
			t.Fatalf("%s is read as %+v, written as %s, read as %+v, %v", text, r, again, r2, err)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"status":{"id":"x","members":[{"id":"y","voter":true}],"last_contact":5}}`))
	f.Add([]byte(`{"error":{"kind":"not-leader","leader":{"address":"a:1"}}}`))
	f.Add([]byte(`{"error":{"kind":"failed","text":"why"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decodeReply(text)
		if err != nil {
			return
		}
		if r.Error != nil && r.Error.decode() == nil {
			t.Fatalf("%s is no error", text)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if r2, err := decodeReply(again); err != nil || !reflect.DeepEqual(encode(r), encode(r2)) {
			t.Fatalf("%s is read as %+v, written as %s, read as %+v, %v", text, r, again, r2, err)
		}
	})
}

func encode(r reply) string {
	text, _ := json.Marshal(r)
	return string(text)
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		text, err := readFrame(r)
		if err != nil {
			return
		}
		again := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
		if read := b[:len(b)-r.Len()]; len(text) > maxFrame || !bytes.Equal(again, read) {
			t.Fatalf("%x is read, %x written", read, again)
		}
	})
}
