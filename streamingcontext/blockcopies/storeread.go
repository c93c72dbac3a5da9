package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// read returns the bytes of a segment from an offset on, at most n, fewer at its end.
func (s *store) read(p place, from int64, n int) ([]byte, error) {
	file, err := os.Open(s.path(p))
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, max(0, min(int64(n), info.Size()-from)))
	got, err := file.ReadAt(buf, from)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}

// piece returns what is to be sent at once of a stretch that there is: see receivedlog.Prefix. It is empty where nothing whole
// begins.
func (s *store) piece(p place, part receivedlog.Part) ([]byte, error) {
	data, err := s.read(p, part.From, int(min(part.To-part.From, frameBytes)))
	if err != nil {
		return nil, err
	}
	n := receivedlog.Prefix(p.segment, part.From, data, frameBytes)
	if n > 0 || part.From == 0 {
		return data[:n], nil
	}
	size, ok := receivedlog.RecordSize(p.segment, part.From, data)
	if !ok || size <= int64(len(data)) || size > maxFrame-64 || part.From+size > part.To {
		return nil, nil
	}
	if data, err = s.read(p, part.From, int(size)); err != nil {
		return nil, err
	}
	return data[:receivedlog.Prefix(p.segment, part.From, data, frameBytes)], nil
}

// record returns the bytes of the record at an address, checked.
//
// Errors: *receivedlog.DamageError; one that wraps fs.ErrNotExist where there is no such segment; the disk's.
func (s *store) record(a receivedlog.Address) ([]byte, error) {
	path := s.path(place{a.Epoch, a.Segment})
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read received block: %w", err)
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return receivedlog.ReadRecord(file, info.Size(), path, a)
}

// again reads a segment again, in which damage was found, and returns what is whole. Nobody is told any more that the rest is here.
func (s *store) again(p place) (coverage, error) {
	now := &segment{place: p}
	if err := s.survey(now, nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg, _ := s.find(p); seg != nil {
		seg.parts = now.parts.upTo(seg.parts.end())
		seg.lost = now.lost
	}
	if s.live != nil && p.epoch == s.epoch {
		for _, e := range s.live.Durable() {
			if e.Segment == p.segment {
				s.damaged = addPart(s.damaged, p, receivedlog.Part{}) // so that the whole of it is known below
				i, _ := find(s.damaged, p)
				s.damaged[i].parts = coverage{{From: 0, To: e.End}}.without(now.parts)
			}
		}
	}
	return now.parts, nil
}

// missing returns what was durable once and is not there, and whether something else may be.
func (s *store) missing() (lost []*receivedlog.DamageError, suspect bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, seg := range s.segments {
		if seg.place.before(s.lowest) {
			continue
		}
		path := s.path(seg.place)
		for _, d := range seg.lost {
			if len(coverage{{From: d.Offset, To: d.Offset + d.Length}}.without(seg.parts)) > 0 {
				lost = append(lost, d)
			}
		}
		suspect = suspect || seg.size > seg.parts.end()
		if i+1 == len(s.segments) || s.segments[i+1].epoch != seg.epoch {
			continue
		}
		next := s.segments[i+1]
		if n := next.segment - seg.segment - 1; n > 0 {
			lost = append(lost, &receivedlog.DamageError{File: s.path(place{seg.epoch, seg.segment + 1}), Reason: fmt.Sprintf("%d segments are missing", n)})
		} else if end := seg.parts.end(); next.before > end {
			lost = append(lost, &receivedlog.DamageError{File: path, Offset: end, Length: next.before - end, Reason: "end of a segment is missing"})
		}
	}
	return lost, suspect || len(lost) > 0
}

// scan visits all whole records of logs that have ended, in order.
//
// Errors: *receivedlog.ScanError after all were visited, if some are lost; visit's; the disk's.
func (s *store) scan(ctx context.Context, visit func(receivedlog.Entry) error) error {
	s.mu.Lock()
	segments := slices.Clone(s.segments)
	s.mu.Unlock()
	for _, seg := range segments {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		had := seg.parts
		s.mu.Unlock()
		now := &segment{place: seg.place}
		err := s.survey(now, func(e receivedlog.Entry) error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if len(coverage{{From: e.Address.Offset, To: e.Address.Offset + 1}}.without(had)) > 0 {
				return nil // it never counted
			}
			e.Address.Epoch = seg.epoch
			return visit(e)
		})
		if err != nil {
			return fmt.Errorf("scan received blocks: %w", err)
		}
		s.mu.Lock()
		seg.parts, seg.lost = now.parts.upTo(had.end()), now.lost
		s.mu.Unlock()
	}
	lost, _ := s.missing()
	if len(lost) == 0 {
		return nil
	}
	all := &receivedlog.ScanError{Total: len(lost)}
	all.Damage = lost[:min(len(lost), receivedlog.MaxDamage)]
	return all
}

// clean removes, for a leader, the segments in which nothing at lowest or behind it lies.
func (s *store) clean(leader uint64, lowest receivedlog.Address) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.allowsHeld(leader); err != nil {
		return 0, err
	}
	if lowest.Epoch > leader {
		return 0, &FrameError{fmt.Sprintf("cleaning up to epoch %d by that of epoch %d", lowest.Epoch, leader)}
	}
	to := place{lowest.Epoch, lowest.Segment}
	if s.lowest.before(to) {
		// First: a segment that is missing is known to be none that is needed.
		if err := writeMark(s.dir, cleanedName, cleanedMark, to.epoch, to.segment); err != nil {
			return 0, fmt.Errorf("clean copies of received blocks: %w", err)
		}
		s.lowest = to
	}
	for len(s.segments) > 0 && s.segments[0].place.before(to) && err == nil {
		p := s.segments[0].place
		if s.file != nil && s.writes == p {
			s.closeFile()
		}
		if err = os.Remove(s.path(p)); err != nil && !errors.Is(err, os.ErrNotExist) {
			break
		}
		err = nil
		removed++
		s.segments = s.segments[1:]
		if len(s.segments) == 0 || s.segments[0].epoch != p.epoch {
			// One that is not empty stays: something else is in it.
			_ = os.Remove(s.folder(p.epoch))
		}
	}
	if removed > 0 { // a file that comes back after a crash is removed again
		err = errors.Join(err, syncDir(s.dir))
	}
	if s.live != nil && s.epoch == lowest.Epoch {
		at := lowest
		at.Epoch = 0
		n, cleaned := s.live.Clean(at)
		removed, err = removed+n, errors.Join(err, cleaned)
	}
	return removed, err
}
