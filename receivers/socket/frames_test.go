package socket_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
	"github.com/leat-io/leat/receivers/socket"
)

func rowsOf(t *testing.T, rows ...int) []byte {
	t.Helper()
	c, err := codec.For[int]()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := c.Append(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func ExampleRows() {
	server, _ := net.Listen("tcp", "127.0.0.1:0")
	defer server.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := server.Accept()
		if err != nil {
			return
		}
		rows, _ := codec.For[string]()
		for _, block := range [][]string{{"to", "be"}, {"or", "not"}} {
			payload, _ := rows.Append(nil, block)
			_ = socket.WriteFrame(conn, payload)
		}
		conn.Close()
	}()
	var sink receiverstest.Sink[string]
	err := socket.Rows[string](server.Addr().String(), socket.Options{}).Receive(context.Background(), &sink)
	<-served
	fmt.Println(sink.Records(), sink.Calls(), errors.Is(err, io.EOF))
	// Output: [to be or not] 2 true
}

func ExampleWriteFrame() {
	var conn bytes.Buffer
	_ = socket.WriteFrame(&conn, []byte("rows"))
	fmt.Printf("%q\n", conn.Bytes())
	// Output: "\x00\x00\x00\x04rows"
}

func TestRows(t *testing.T) {
	receiverstest.Run(t, func(t *testing.T) receiverstest.Source[int] {
		var sent atomic.Int64
		return receiverstest.Source[int]{
			Want:  []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
			Read:  func() int { return int(sent.Load()) },
			Ahead: 2,
			Receiver: socket.Rows[int]("server", socket.Options{Dial: func(context.Context, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() { // ends with the client's side of the pipe
					for i := 0; ; i += 3 {
						if socket.WriteFrame(server, rowsOf(t, i, i+1, i+2)) != nil || socket.WriteFrame(server, nil) != nil {
							return
						}
						sent.Add(3)
					}
				}()
				return client, nil
			}}),
		}
	})
}

// receiveFrames sends bytes and returns what Receive ended with.
func receiveFrames(t *testing.T, stream []byte, opts socket.Options) (*receiverstest.Sink[int], string, error) {
	t.Helper()
	addr := listen(t, func(conn net.Conn) { _, _ = conn.Write(stream) })
	var sink receiverstest.Sink[int]
	return &sink, addr, socket.Rows[int](addr, opts).Receive(t.Context(), &sink)
}

func TestRows_ends_with_an_error(t *testing.T) {
	var good bytes.Buffer
	if err := socket.WriteFrame(&good, rowsOf(t, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	frame := good.Bytes()
	damaged := bytes.Clone(frame)
	damaged[len(damaged)-1] ^= 1
	size := int64(len(frame))
	for _, test := range []struct {
		name   string
		stream []byte
		want   []int
		check  func(addr string, err error) bool
	}{
		{"at the end of the stream", frame, []int{1, 2, 3}, func(_ string, err error) bool { return errors.Is(err, io.EOF) }},
		{"within a length", append(bytes.Clone(frame), 0, 0), []int{1, 2, 3}, func(_ string, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"within a payload", frame[:len(frame)-1], nil, func(_ string, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"behind a length without a payload", []byte{0, 0, 0, 9}, nil, func(_ string, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"at a payload that is damaged", append(bytes.Clone(frame), damaged...), []int{1, 2, 3}, func(addr string, err error) bool {
			e, ok := errors.AsType[*socket.FrameError](err)
			return ok && e.Addr == addr && e.Offset == size && e.Length == len(frame)-4 && errors.Is(err, codec.ErrCorrupt)
		}},
		{"at a length above the limit", append(bytes.Clone(frame), 0xff, 0xff, 0xff, 0xff), []int{1, 2, 3}, func(addr string, err error) bool {
			e, ok := errors.AsType[*socket.FrameTooLongError](err)
			return ok && *e == socket.FrameTooLongError{Addr: addr, Offset: size, Length: 1<<32 - 1, Limit: 100}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			sink, addr, err := receiveFrames(t, test.stream, socket.Options{MaxFrame: 100})
			if !test.check(addr, err) {
				t.Errorf("Receive = %v", err)
			}
			if diff := cmp.Diff(test.want, sink.Records()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// A length that lies costs no more memory than arrives.
func TestRows_makes_memory_for_what_arrives(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 1<<30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := receiveFrames(t, append(head, "little"...), socket.Options{MaxFrame: 1 << 30})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Receive = %v", err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 {
		t.Errorf("%d bytes allocated for a frame of 6", made)
	}
}

func TestFrames_decodes_large_payloads_with_the_function_given(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), 300_000)
	addr := listen(t, func(conn net.Conn) {
		for _, payload := range [][]byte{[]byte("ab"), large, []byte("c")} {
			if err := socket.WriteFrame(conn, payload); err != nil {
				t.Error(err)
			}
		}
	})
	var sink receiverstest.Sink[string]
	decode := func(payload []byte) ([]string, error) { return []string{string(payload)}, nil }
	if err := socket.Frames(addr, decode, socket.Options{}).Receive(t.Context(), &sink); !errors.Is(err, io.EOF) {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"ab", string(large), "c"}, sink.Records()); diff != "" {
		t.Errorf("records differ")
	}
}

func TestRows_refuses_what_cannot_be_used(t *testing.T) {
	r := socket.Rows[func()]("a:1", socket.Options{MaxFrame: -1})
	err := r.Receive(t.Context(), nil)
	if _, ok := errors.AsType[*receivers.OptionError](err); !ok {
		t.Errorf("Receive = %v, want an OptionError", err)
	}
	if _, ok := errors.AsType[*codec.TypeError](err); !ok {
		t.Errorf("Receive = %v, want a TypeError", err)
	}
	if err := socket.Frames[int]("a:1", nil, socket.Options{}).Receive(t.Context(), nil); err == nil {
		t.Error("no function to decode with, and no error")
	}
}
