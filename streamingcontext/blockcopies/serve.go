package blockcopies

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// serve answers a leader until it is gone, silent for too long, or refused.
func (c *Copies) serve(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }() // the leader has its answer, or has gone
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var leader uint64 // 0 until it has said
	for {
		// Leaders ping three times in this time.
		_ = conn.SetDeadline(time.Now().Add(c.opts.Timeout))
		m, err := readMessage(conn)
		if err != nil {
			if _, malformed := errors.AsType[*FrameError](err); malformed {
				c.opts.Logger.Warn("bad message about copies of blocks", "peer", conn.RemoteAddr().String(), "err", err)
			}
			return
		}
		kind, body, err := c.answer(&leader, m)
		fenced, refused := errors.AsType[*FencedError](err)
		_, malformed := errors.AsType[*FrameError](err)
		switch {
		case refused:
			kind, body = kindFenced, binary.AppendUvarint(nil, fenced.By)
		case err != nil:
			text := err.Error()
			kind, body = kindError, []byte(text[:min(len(text), 1000)])
			c.opts.Logger.Warn("copies of blocks: what a leader asks for cannot be done", "peer", conn.RemoteAddr().String(), "err", err)
		}
		_ = conn.SetDeadline(time.Now().Add(c.opts.Timeout))
		if err := writeMessage(conn, kind, body); err != nil || refused || malformed {
			return
		}
	}
}

// answer does what a leader asks for. Each time it must be one that is not refused.
func (c *Copies) answer(leader *uint64, m message) (kind byte, body []byte, err error) {
	if m.kind == kindLead && *leader == 0 {
		f := fields{rest: m.body}
		epoch := f.number()
		if err := f.end("lead"); err != nil || epoch == 0 {
			return 0, nil, &FrameError{"lead"}
		}
		if err := c.store.promise(epoch, false); err != nil {
			return 0, nil, err
		}
		*leader = epoch
		c.fence(epoch)
		lowest, all := c.store.inventory()
		return kindHolding, appendInventory(nil, lowest, all), nil
	}
	if *leader == 0 {
		return 0, nil, &FrameError{"from nobody"}
	}
	if err := c.store.allows(*leader); err != nil {
		return 0, nil, err
	}
	f := fields{rest: m.body}
	switch m.kind {
	case kindPing:
		return kindDone, nil, f.end("ping")
	case kindData:
		p, from, data, err := decodeData(m.body)
		if err != nil {
			return 0, nil, err
		}
		return kindDone, nil, c.store.write(*leader, p, from, data)
	case kindRead:
		p, from := f.place(), f.offset()
		if err := f.end("read"); err != nil {
			return 0, nil, err
		}
		data, err := c.store.piece(p, receivedlog.Part{From: from, To: from + maxFrame})
		if err == nil && len(data) == 0 {
			// It was whole when it was told of. Whoever asks again is told what still is.
			_, err = c.store.again(p)
			err = errors.Join(fmt.Errorf("no whole record at byte %d of segment %d of epoch %d", from, p.segment, p.epoch), err)
		}
		return kindData, appendData(p, from, data), err
	case kindRecord:
		a, rest, err := receivedlog.DecodeAddress(m.body)
		if err != nil || len(rest) > 0 {
			return 0, nil, &FrameError{"address"}
		}
		raw, err := c.store.record(a)
		if err == nil && len(raw) > maxFrame-64 {
			return 0, nil, errors.New("a record that is too large")
		}
		return kindData, appendData(place{a.Epoch, a.Segment}, a.Offset, raw), err
	case kindClean:
		a, rest, err := receivedlog.DecodeAddress(m.body)
		if err != nil || len(rest) > 0 {
			return 0, nil, &FrameError{"address"}
		}
		_, err = c.store.clean(*leader, a)
		return kindDone, nil, err
	}
	return 0, nil, &FrameError{"of no known kind"}
}

// fence ends the log of an older term that is open here.
func (c *Copies) fence(by uint64) {
	c.mu.Lock()
	t := c.term
	c.mu.Unlock()
	if t != nil && t.epoch < by {
		t.fail(&FencedError{Epoch: t.epoch, By: by})
	}
}
