package blockcopies

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// A follower is another driver that this one, leading, has a connection to. It belongs to one goroutine.
type follower struct {
	Member
	conn    net.Conn
	epoch   uint64 // of this driver
	timeout time.Duration
	lowest  place // before which nothing is needed, as it knows
	has     []holding
}

// follow connects to a driver, which refuses older leaders from then on, and is told what it has.
//
// Errors: *FencedError if it refuses this one; what dialling returns; *RemoteError, where another node answers, too; *FrameError.
func (c *Copies) follow(ctx context.Context, m Member, epoch uint64) (*follower, error) {
	dialling, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	conn, err := c.network.DialContext(dialling, m.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to driver %s: %w", m.ID, err)
	}
	// One that was started on an empty folder where the member was has none of its copies and none of its promises.
	if known, ok := conn.(interface{ PeerID() string }); ok && known.PeerID() != m.ID {
		_ = conn.Close()
		return nil, &RemoteError{Node: m.ID, Text: fmt.Sprintf("node %s answers at its address %s", known.PeerID(), m.Address)}
	}
	f := &follower{Member: m, conn: conn, epoch: epoch, timeout: c.opts.Timeout}
	answer, err := f.ask(ctx, kindLead, binary.AppendUvarint(nil, epoch), kindHolding)
	if err == nil {
		f.lowest, f.has, err = decodeInventory(answer)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *follower) close() { _ = f.conn.Close() }

// ask sends a message and returns the body of its answer, which is to be of a kind. After an error the connection is of no use any more,
// but for a *RemoteError.
func (f *follower) ask(ctx context.Context, kind byte, body []byte, want byte) ([]byte, error) {
	_ = f.conn.SetDeadline(time.Now().Add(f.timeout))
	stop := context.AfterFunc(ctx, func() { _ = f.conn.Close() })
	defer stop()
	err := writeMessage(f.conn, kind, body)
	var m message
	if err == nil {
		m, err = readMessage(f.conn)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("ask driver %s: %w", f.ID, err)
	case m.kind == want:
		return m.body, nil
	case m.kind == kindError:
		return nil, &RemoteError{Node: f.ID, Text: string(m.body[:min(len(m.body), 1000)])}
	case m.kind == kindFenced:
		r := fields{rest: m.body}
		return nil, &FencedError{Epoch: f.epoch, By: r.number(), Node: f.ID}
	}
	return nil, &FrameError{fmt.Sprintf("driver %s answers %q to %q", f.ID, m.kind, kind)}
}

// send makes a stretch durable there.
func (f *follower) send(ctx context.Context, p place, from int64, data []byte) error {
	if _, err := f.ask(ctx, kindData, appendData(p, from, data), kindDone); err != nil {
		return err
	}
	f.has = addPart(f.has, p, receivedlog.Part{From: from, To: from + int64(len(data))})
	return nil
}

// read returns what is to be written at once of a segment from an offset on. It is empty if that is damaged there.
func (f *follower) read(ctx context.Context, p place, from int64) ([]byte, error) {
	answer, err := f.ask(ctx, kindRead, binary.AppendUvarint(appendPlace(nil, p), uint64(from)), kindData)
	if err != nil {
		return nil, err
	}
	at, off, data, err := decodeData(answer)
	if err == nil && (at != p || off != from) {
		err = &FrameError{"data of another place"}
	}
	return data, err
}

// record returns the bytes of the record at an address, which are to be checked.
func (f *follower) record(ctx context.Context, a receivedlog.Address) ([]byte, error) {
	answer, err := f.ask(ctx, kindRecord, a.Append(nil), kindData)
	if err != nil {
		return nil, err
	}
	_, _, raw, err := decodeData(answer)
	return raw, err
}

// clean removes there what nobody needs any more.
func (f *follower) clean(ctx context.Context, lowest receivedlog.Address) error {
	_, err := f.ask(ctx, kindClean, lowest.Append(nil), kindDone)
	return err
}

// ping finds out whether the driver is there and takes this one for the leader.
func (f *follower) ping(ctx context.Context) error {
	_, err := f.ask(ctx, kindPing, nil, kindDone)
	return err
}
