package blockcopies

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// A store is what this driver has of the logs of all epochs, its own among them, and which epochs it refuses.
//
// The heart of it: a leader's promise is taken, a stretch is written and made durable, and what there is is told, each under the same lock. So
// a stretch of an older leader is either in what the newer one is told, or refused.
type store struct {
	dir    string
	logger *slog.Logger

	mu       sync.Mutex // guards what follows, and what is written
	promised uint64
	lowest   place      // before it nothing is needed
	segments []*segment // of epochs that have ended, or are written elsewhere, in order
	live     *receivedlog.Log
	epoch    uint64    // of live
	damaged  []holding // of live, what was found to be
	file     *os.File
	writes   place // what file is
}

// segment is a file of a log, or of a copy.
type segment struct {
	place
	parts  coverage
	size   int64 // that counts, at least
	before int64 // how much of the segment before counts, by its header; negative if that is not known
	lost   []*receivedlog.DamageError
}

// openStore finds what a folder has. Nothing in it is cut off or repaired: whoever has more of it sends it.
func openStore(dir string, logger *slog.Logger) (*store, error) {
	s := &store{dir: dir, logger: logger}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	if err := readMark(dir, promiseName, promiseMark, &s.promised); err != nil {
		return nil, fmt.Errorf("which drivers are refused is not known: %w", err)
	}
	if err := readMark(dir, cleanedName, cleanedMark, &s.lowest.epoch, &s.lowest.segment); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		epoch, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil || !e.IsDir() || folderName(epoch) != e.Name() {
			continue
		}
		s.promised = max(s.promised, epoch)
		if err := s.look(epoch); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func folderName(epoch uint64) string { return fmt.Sprintf("%020d", epoch) }

func (s *store) folder(epoch uint64) string { return filepath.Join(s.dir, folderName(epoch)) }

func (s *store) path(p place) string {
	return filepath.Join(s.folder(p.epoch), receivedlog.SegmentName(p.segment))
}

// look finds the segments of an epoch.
func (s *store) look(epoch uint64) error {
	entries, err := os.ReadDir(s.folder(epoch))
	if err != nil {
		return err
	}
	var found []*segment
	for _, e := range entries {
		number, ok := receivedlog.SegmentNumber(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		seg := &segment{place: place{epoch, number}}
		if err := s.survey(seg, nil); err != nil {
			return err
		}
		found = append(found, seg)
	}
	if len(found) == 0 {
		_ = os.Remove(s.folder(epoch)) // of a term in which nothing was received; one that is not empty stays
	}
	slices.SortFunc(found, func(a, b *segment) int { return cmp.Compare(a.segment, b.segment) })
	for i, seg := range found[:max(0, len(found)-1)] {
		// What an append that failed has left behind never counted.
		if next := found[i+1]; next.segment == seg.segment+1 && next.before >= 0 {
			seg.parts, seg.size = seg.parts.upTo(next.before), min(seg.size, next.before)
			seg.lost = slices.DeleteFunc(seg.lost, func(d *receivedlog.DamageError) bool { return d.Offset >= next.before })
		}
	}
	s.segments = append(s.segments, found...)
	slices.SortFunc(s.segments, func(a, b *segment) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.segment, b.segment))
	})
	return nil
}

// survey reads the file of a segment.
func (s *store) survey(seg *segment, visit func(receivedlog.Entry) error) error {
	path := s.path(seg.place)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return err
	}
	found, err := receivedlog.Look(file, path, seg.segment, info.Size(), visit)
	seg.parts, seg.size, seg.before, seg.lost = found.Parts, info.Size(), found.Before, found.Lost
	return err
}

func (s *store) find(p place) (*segment, int) {
	i, ok := slices.BinarySearchFunc(s.segments, p, func(seg *segment, p place) int {
		return cmp.Or(cmp.Compare(seg.epoch, p.epoch), cmp.Compare(seg.segment, p.segment))
	})
	if !ok {
		return nil, i
	}
	return s.segments[i], i
}

// promise refuses all drivers of older epochs from now on. fresh says that the epoch is to be one that nobody has had.
func (s *store) promise(epoch uint64, fresh bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch < s.promised || fresh && epoch == s.promised {
		return &FencedError{Epoch: epoch, By: s.promised}
	}
	if epoch == s.promised {
		return nil
	}
	if err := writeMark(s.dir, promiseName, promiseMark, epoch); err != nil {
		return fmt.Errorf("promise to refuse drivers before epoch %d: %w", epoch, err)
	}
	s.promised = epoch
	return nil
}

// allows returns an error if the driver of an epoch is refused.
func (s *store) allows(epoch uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.allowsHeld(epoch)
}

func (s *store) allowsHeld(epoch uint64) error {
	if epoch < s.promised {
		return &FencedError{Epoch: epoch, By: s.promised}
	}
	return nil
}

// cleaned returns the segment before which nothing is needed.
func (s *store) cleaned() receivedlog.Address {
	s.mu.Lock()
	defer s.mu.Unlock()
	return receivedlog.Address{Epoch: s.lowest.epoch, Segment: s.lowest.segment}
}

// holdings returns what there is. Of the log that is written here it is what is durable.
func (s *store) holdings() []holding {
	_, all := s.inventory()
	return all
}

// inventory returns what there is, and before what nothing is needed.
func (s *store) inventory() (lowest place, all []holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowest, s.holdingsHeld()
}

func (s *store) holdingsHeld() []holding {
	all := make([]holding, 0, len(s.segments))
	for _, seg := range s.segments {
		if len(seg.parts) > 0 {
			all = append(all, holding{seg.place, slices.Clone(seg.parts)})
		}
	}
	if s.live == nil {
		return all
	}
	for _, e := range s.live.Durable() {
		p := place{s.epoch, e.Segment}
		i, _ := find(all, p)
		all = slices.Insert(all, i, holding{p, coverage{{From: 0, To: e.End}}.without(partsOf(s.damaged, p))})
	}
	return all
}

// begin says that the log of an epoch is written here, which has what there is of it.
func (s *store) begin(epoch uint64, log *receivedlog.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFile()
	s.segments = slices.DeleteFunc(s.segments, func(seg *segment) bool { return seg.epoch == epoch })
	s.live, s.epoch, s.damaged = log, epoch, nil
}

// end says that the log is closed: it is a copy as any other.
func (s *store) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil
	}
	s.live = nil
	return s.look(s.epoch)
}

// write makes a stretch durable for a leader: the header of a segment, or whole records of one group.
//
// Errors: *FencedError; *FrameError for what is none; the disk's.
func (s *store) write(leader uint64, p place, from int64, data []byte) error {
	if len(data) == 0 || receivedlog.Prefix(p.segment, from, data, len(data)) != len(data) {
		return &FrameError{fmt.Sprintf("no whole records of segment %d at byte %d", p.segment, from)}
	}
	if p.segment == 0 || p.epoch == 0 || p.epoch > leader {
		return &FrameError{fmt.Sprintf("segment %d of epoch %d from epoch %d", p.segment, p.epoch, leader)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.allowsHeld(leader); err != nil {
		return err
	}
	if s.live != nil && p.epoch == s.epoch {
		return fmt.Errorf("the log of epoch %d is still open here", p.epoch)
	}
	seg, i := s.find(p)
	if seg == nil {
		seg = &segment{place: p, before: -1}
	}
	part := receivedlog.Part{From: from, To: from + int64(len(data))}
	seg.parts = seg.parts.without(coverage{part}) // until it is there again
	if err := s.writeFile(p, from, data); err != nil {
		s.closeFile()
		return fmt.Errorf("write a copy: %w", err)
	}
	if from == 0 {
		seg.before = receivedlog.Before(data)
	}
	seg.parts = seg.parts.add(part)
	seg.size = max(seg.size, part.To)
	if i == len(s.segments) || s.segments[i] != seg {
		s.segments = slices.Insert(s.segments, i, seg)
	}
	return nil
}

func (s *store) writeFile(p place, from int64, data []byte) error {
	if s.file == nil || s.writes != p {
		s.closeFile()
		folder := s.folder(p.epoch)
		if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		file, err := os.OpenFile(s.path(p), os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		s.file, s.writes = file, p
		if err := errors.Join(syncDir(folder), syncDir(s.dir)); err != nil {
			s.closeFile()
			return err
		}
	}
	if _, err := s.file.WriteAt(data, from); err != nil {
		return err
	}
	return s.file.Sync()
}

// closeFile lets go of the file that was written to last. What it has is durable.
func (s *store) closeFile() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFile()
}
