package executor

import "github.com/leat-io/leat/lineage"

// A scratch is a temporary file of a task.
type scratch struct {
	f       newFile
	disk    *disk
	metrics *lineage.Metrics
	closed  bool
}

// Scratch makes a temporary file in the executor's folder.
func (e *env) Scratch() (lineage.Scratch, error) {
	f, err := e.executor.disk.temp("scratch")
	if err != nil {
		return nil, err
	}
	s := &scratch{f: f, disk: e.executor.disk, metrics: &e.metrics}
	e.scratch = append(e.scratch, s)
	return s, nil
}

func (s *scratch) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.metrics.SpilledBytes += int64(n)
	if err != nil {
		return n, &FileError{Path: s.f.Name(), Doing: "write", Err: err}
	}
	return n, nil
}

// ReadAt answers io.EOF as it is: callers compare it.
func (s *scratch) ReadAt(p []byte, off int64) (int, error) { return s.f.ReadAt(p, off) }

// Close closes and removes the file, once.
func (s *scratch) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.disk.discard(s.f); err != nil {
		return &FileError{Path: s.f.Name(), Doing: "remove", Err: err}
	}
	return nil
}
