package blockcopies_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// frame is a message with the size that it has.
func frame(kind byte, body string) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(1+len(body))), kind), body...)
}

func numbers(all ...uint64) string {
	var buf []byte
	for _, n := range all {
		buf = binary.AppendUvarint(buf, n)
	}
	return string(buf)
}

// Whoever says what is none of the protocol is refused and cut off, and those that are served go on. What leads to nothing is answered, and the
// connection goes on.
func TestMalformedMessagesAreRefused(t *testing.T) {
	lead := frame('L', numbers(6))
	for _, c := range []struct {
		name string
		say  []byte
		want string // kinds of the answers
	}{
		{"no_size", []byte{0, 0, 0, 0, 'L'}, ""},
		{"huge", []byte{0xff, 0xff, 0xff, 0xff, 'D'}, ""},
		{"a_little_too_large", binary.BigEndian.AppendUint32(nil, 16<<20+64<<10+1025), ""},
		{"text", []byte("GET / HTTP/1.1\r\n\r\n"), ""},
		{"before_it_said_who", frame('P', ""), "E"},
		{"epoch_zero", frame('L', numbers(0)), "E"},
		{"no_epoch", frame('L', ""), "E"},
		{"more_than_an_epoch", frame('L', numbers(6, 7)), "E"},
		{"an_older_epoch", frame('L', numbers(4)), "F"},
		{"lead_twice", append(frame('L', numbers(6)), lead...), "IE"},
		{"unknown_kind", append(frame('L', numbers(6)), frame('?', "")...), "IE"},
		{"ping_with_a_body", append(frame('L', numbers(6)), frame('P', "x")...), "IE"},
		{"data_without_a_place", append(frame('L', numbers(6)), frame('D', "")...), "IE"},
		{"data_that_is_no_record", append(frame('L', numbers(6)), frame('D', numbers(5, 1, 40)+strings.Repeat("x", 100))...), "IE"},
		{"data_at_a_huge_offset", append(frame('L', numbers(6)), frame('D', numbers(5, 1, 1<<63)+"x")...), "IE"},
		{"an_address_that_is_none", append(frame('L', numbers(6)), frame('B', "\xff\xff")...), "IE"},
		{"clean_without_an_address", append(frame('L', numbers(6)), frame('C', "")...), "IE"},
		{"clean_of_what_is_later", append(frame('L', numbers(6)), frame('C', numbers(1<<32, 9, 1, 0, 0)+"\x00\x00\x00\x00")...), "IE"},
		{"a_segment_that_is_not_there", append(append(frame('L', numbers(6)), frame('R', numbers(5, 99, 40))...), frame('P', "")...), "IEA"},
		{"a_record_that_is_not_there", append(append(frame('L', numbers(6)), frame('B', numbers(1<<32, 5, 99, 40, 5)+"\x00\x00\x00\x00")...), frame('P', "")...), "IEA"},
		{"a_read_of_the_middle", append(append(frame('L', numbers(6)), frame('R', numbers(5, 1, 41))...), frame('P', "")...), "IEA"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b")
				a := w.driver("a")
				w.driver("b")
				acked, log := kept{}, a.lead(5)
				acked.store(t, log, 0, 3)
				before := w.files("b")
				conn, err := w.net.From("x").DialContext(t.Context(), "b")
				if err != nil {
					t.Fatal(err)
				}
				var writing sync.WaitGroup
				writing.Go(func() { _, _ = conn.Write(c.say) })
				got := ""
				for {
					var head [4]byte
					if _, err := io.ReadFull(conn, head[:]); err != nil {
						break
					}
					body := make([]byte, binary.BigEndian.Uint32(head[:]))
					if _, err := io.ReadFull(conn, body); err != nil {
						t.Fatal(err)
					}
					got += string(body[0])
				}
				writing.Wait()
				if got != c.want {
					t.Errorf("answers %q, want %q", got, c.want)
				}
				for name, data := range before {
					if w.files("b")[name] != data {
						t.Errorf("%s was changed", name)
					}
				}
				if !strings.Contains(c.want, "I") { // else it has led, and a was fenced
					acked.store(t, log, 3, 6)
				} else {
					log = w.leadAgain(a, log)
					acked.store(t, log, 3, 6)
				}
				acked.within(t, found(t, log))
			})
		})
	}
}

// Connections that say nothing end, and so keep nobody out for long.
func TestSilentConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a := w.driver("a")
		w.driver("b", func(o *blockcopies.Options) { o.MaxConns = 2 })
		for range 2 {
			conn, err := w.net.From("x").DialContext(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() // again
		}
		begin := time.Now()
		kept{}.store(t, a.lead(5), 0, 3)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A driver that takes connections and answers nothing holds up nobody but those that need it, and is tried again.
func TestAStalledDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a := w.driver("a")
		w.driver("c")
		stalled, err := w.net.Listen("b")
		if err != nil {
			t.Fatal(err)
		}
		var conns []net.Conn
		var accepting sync.WaitGroup
		accepting.Go(func() {
			for {
				c, err := stalled.Accept()
				if err != nil {
					return
				}
				conns = append(conns, c)
			}
		})
		acked, log := kept{}, a.lead(5)
		begin := time.Now()
		acked.store(t, log, 0, 10)
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %v", took)
		}
		settle(time.Minute)
		if s := a.Status(); s.Drivers[0].Connected || s.Drivers[0].Err == nil || !s.Drivers[1].Connected {
			t.Errorf("status %+v", s)
		}
		_ = stalled.Close()
		accepting.Wait()
		if len(conns) < 3 {
			t.Errorf("%d attempts", len(conns))
		}
		for _, c := range conns {
			_ = c.Close()
		}
		w.driver("b")
		settle(time.Minute)
		w.wantSame("a", "b")
	})
}

// leadAgain ends a term that was fenced, and begins the next.
func (w *world) leadAgain(d *driver, log streamingcontext.BlockLog) streamingcontext.BlockLog {
	w.t.Helper()
	if err := log.Close(); err != nil {
		w.t.Error(err)
	}
	return d.lead(d.Status().Promised + 20)
}

// Blocks of all sizes are kept, and larger ones refused.
func TestLargeBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a, b := w.driver("a"), w.driver("b")
		log := a.lead(5)
		acked := kept{}
		for _, size := range []int{0, 1, 1 << 20, 5 << 20, blockcopies.MaxBlock} {
			data := bytes.Repeat([]byte{byte(size >> 16)}, size)
			at, err := log.Append(t.Context(), 1, data, bytes.Repeat([]byte{1}, 64<<10))
			if err != nil {
				t.Fatal(err)
			}
			acked[string(data)] = at
		}
		if _, err := log.Append(t.Context(), 1, make([]byte, blockcopies.MaxBlock+1), nil); err == nil {
			t.Error("a block that is too large was taken")
		}
		w.wantSame("a", "b")
		a.lose()
		acked.within(t, found(t, b.lead(9)))
	})
}
