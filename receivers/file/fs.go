package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FS is what a [Selector] asks of a file system. A testing/fstest.MapFS has it, too. Paths have the form that Glob
// returns.
type FS interface {
	// Glob returns the paths that match pattern, as [filepath.Glob] does.
	Glob(pattern string) ([]string, error)
	// ReadDir returns the names in the directory. An error that wraps [fs.ErrNotExist] says that it has gone.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// Stat describes the file, or what a link at path points to.
	Stat(path string) (fs.FileInfo, error)
}

// systemFS is the file system of the operating system.
type systemFS struct{}

func (systemFS) Glob(pattern string) ([]string, error) {
	// A separator at the end says "directories", which is meant anyway, and would match nothing.
	if trimmed := strings.TrimRightFunc(pattern, separator); trimmed != "" {
		pattern = trimmed
	}
	return filepath.Glob(pattern)
}

func separator(r rune) bool { return r == '/' || r == filepath.Separator }

func (systemFS) ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

func (systemFS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }
