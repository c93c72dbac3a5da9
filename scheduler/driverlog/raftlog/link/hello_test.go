package link

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func FuzzHandshake(f *testing.F) {
	good := hello{"raft", strings.Repeat("0a", 16), "driver-1-0123456789abcdef", "wordcount 1.2"}
	f.Add(appendFrame(nil, helloFrame, good.append(nil)))
	f.Add(appendFrame(nil, goFrame, nil))
	f.Add(appendRefusal(nil, refused(Busy, "why")))
	f.Add([]byte("LEAT"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, due := range []frameKind{helloFrame, goFrame} {
			r := bytes.NewReader(b)
			body, err := readFrame(r, due)
			if err != nil {
				if e := (*RefusedError)(nil); !errors.As(err, &e) && err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Fatalf("%v is neither a refusal nor the end", err)
				} else if e != nil && len(e.Error()) > 3*maxFrame {
					t.Fatalf("an error of %d bytes", len(e.Error()))
				}
				continue
			}
			read := b[:len(b)-r.Len()]
			if again := appendFrame(nil, due, body); !bytes.Equal(again, read) {
				t.Fatalf("%x is read, %x written", read, again)
			}
			if h, err := decodeHello(body); err == nil && !bytes.Equal(h.append(nil), body) {
				t.Fatalf("%x is read, %x written", body, h.append(nil))
			}
		}
	})
}

func TestTheLargestHelloFits(t *testing.T) {
	h := hello{strings.Repeat("p", maxProtocol), strings.Repeat("0", clusterSize), strings.Repeat("n", maxName) + "-0123456789abcdef", strings.Repeat("b", maxBuild)}
	b := appendFrame(nil, helloFrame, h.append(nil))
	if len(b) > maxFrame {
		t.Fatalf("%d bytes", len(b))
	}
	body, err := readFrame(bytes.NewReader(b), helloFrame)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeHello(body); err != nil || got != h {
		t.Errorf("%+v is read, %v", got, err)
	}
	long := appendRefusal(nil, refused(WrongName, strings.Repeat("é", maxFrame)))
	if _, err := readFrame(bytes.NewReader(long), helloFrame); len(long) > maxFrame || err == nil || !strings.Contains(err.Error(), "name not in certificate: ééé") {
		t.Errorf("a refusal of %d bytes is read as %v", len(long), err)
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		ok   bool
	}{
		{"driver", true}, {"a", true}, {"node-1.rack.example", true}, {"N1", true}, {strings.Repeat("n", 64), true},
		{"", false}, {strings.Repeat("n", 65), false}, {"-a", false}, {"a-", false}, {".a", false}, {"a b", false}, {"a/b", false}, {"é", false}, {"a\n", false},
	} {
		if err := CheckName(tt.name); (err == nil) != tt.ok {
			t.Errorf("CheckName(%q) returns %v", tt.name, err)
		}
		if err := CheckID(tt.name + "-0123456789abcdef"); (err == nil) != tt.ok {
			t.Errorf("CheckID(%q-...) returns %v", tt.name, err)
		}
	}
	one, two := newID("driver"), newID("driver")
	if err := CheckID(one); err != nil || one == two {
		t.Errorf("fresh ids %s, %s: %v", one, two, err)
	}
}

func TestReasonsHaveTexts(t *testing.T) {
	seen := map[string]bool{}
	for r := Reason(1); r < reasons; r++ {
		if s := r.String(); strings.HasPrefix(s, "reason") || seen[s] {
			t.Errorf("reason %d is %q", r, s)
		}
		seen[r.String()] = true
	}
	if s := Reason(200).String(); s != "reason 200" {
		t.Errorf("an unknown reason is %q", s)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{Name: "a b"}, {ID: "driver"}, {Name: "a", ID: "b-0123456789abcdef"}, {Build: "a\tb"}, {Build: strings.Repeat("b", 129)},
		{HandshakeTimeout: -1}, {DialTimeout: -1}, {MaxConns: -1}, {TLS: &TLS{}}, {Address: "nowhere"}, {Address: ":0"},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%+v is valid", o)
		}
		if l, err := Listen(o); err == nil {
			t.Errorf("Listen(%+v) returns %v", o, l)
		}
	}
	o := Options{ID: "node-1-0123456789abcdef"}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if got, want := o.String(), "node node-1 at 127.0.0.1:0, loopback only, handshake timeout 5s, dial timeout 5s, at most 256 connections"; got != want {
		t.Errorf("the options are %q, want %q", got, want)
	}
}
