package rdd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/lineage"
)

// NewFileCommitter returns the committer of the file savers, for SaveWith: part files part-00000, part-00001 and so on,
// each followed by suffix, in a new folder dir, and at the end an empty file named _SUCCESS. Every attempt writes a
// temporary file of its own, and a part is committed by renaming it. When a save fails, its files are removed, and the
// folder if it made it.
//
// Errors: SetupJob returns fs.ErrExist if dir is there; else what the file system returns.
func NewFileCommitter(dir, suffix string) Committer {
	return &fileCommitter{dir: dir, suffix: suffix}
}

type fileCommitter struct {
	dir, suffix string
	overwrite   bool
	made        bool // the folder is of this save
}

// savedNames are the names of the files of a save.
var savedNames = [...]string{"part-*", "_temporary-*", "_SUCCESS"}

func (c *fileCommitter) SetupJob(context.Context, int) error {
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(c.dir, 0o755) // of two saves to one folder one makes it
	c.made = err == nil
	if !errors.Is(err, fs.ErrExist) || !c.overwrite {
		return err
	}
	return c.clean()
}

// clean removes the files of a save from the folder.
func (c *fileCommitter) clean() error {
	for _, pattern := range savedNames {
		if err := removeMatching(c.dir, pattern); err != nil {
			return err
		}
	}
	return nil
}

func (c *fileCommitter) CreatePart(_ context.Context, part int, a lineage.Attempt) (PartWriter, error) {
	// The random end keeps apart attempts that another run of the program numbered alike.
	f, err := os.CreateTemp(c.dir, fmt.Sprintf("_temporary-%05d-%d.%d.%d.%d-*", part, a.Job, a.Stage, a.StageAttempt, a.Number))
	if err != nil {
		return nil, err
	}
	return &filePart{file: f, path: filepath.Join(c.dir, fmt.Sprintf("part-%05d%s", part, c.suffix))}, nil
}

func (c *fileCommitter) CommitJob(context.Context, [][]byte) error {
	return os.WriteFile(filepath.Join(c.dir, "_SUCCESS"), nil, 0o644)
}

func (c *fileCommitter) AbortJob(context.Context) error {
	err := c.clean()
	if c.made {
		_ = os.Remove(c.dir) // stays if somebody put something else into it
	}
	return err
}

// filePart is a part on its way.
type filePart struct {
	file *os.File
	path string
}

func (p *filePart) Write(b []byte) (int, error) { return p.file.Write(b) }

func (p *filePart) Commit(context.Context) ([]byte, error) {
	if err := p.file.Chmod(0o644); err != nil {
		return nil, err
	}
	if err := p.file.Close(); err != nil {
		return nil, err
	}
	return nil, os.Rename(p.file.Name(), p.path)
}

func (p *filePart) Abort(context.Context) error {
	_ = p.file.Close() // it may be closed, and what it holds is not wanted
	if err := os.Remove(p.file.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeMatching removes the files of a folder whose names match, none if there is no folder. Files that go away
// meanwhile are no fault.
func removeMatching(dir, pattern string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ok, err := filepath.Match(pattern, e.Name()); err != nil || !ok {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
