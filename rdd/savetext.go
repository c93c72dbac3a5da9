package rdd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SaveAsTextFile writes one text file for each partition into a new folder: part-00000 and so on,
// one record a line, and at the end an empty file named _SUCCESS. Strings and []byte are written as
// they are, other records as fmt prints them: a pair as (key,value).
//
// Order: partition order is the order of the names; records in theirs.
// Cost: one task a partition, written through a temporary file and a rename, so that a part is
// there whole or not at all.
// Errors: fs.ErrExist before any task runs if the folder is there already; what writing returns.
func (r *RDD[T]) SaveAsTextFile(ctx context.Context, dir string) error {
	if r.err != nil {
		return r.err
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("save %s to %s: %w", r.String(), dir, fs.ErrExist)
	}
	return r.saveText(ctx, dir)
}

// OverwriteTextFile is SaveAsTextFile into a folder that may be there: the parts of an earlier save
// are removed first, other files stay. A batch that is run again uses it.
func (r *RDD[T]) OverwriteTextFile(ctx context.Context, dir string) error {
	if r.err != nil {
		return r.err
	}
	for _, pattern := range []string{"part-*", "_temporary-*", "_SUCCESS"} {
		if err := removeMatching(dir, pattern); err != nil {
			return fmt.Errorf("save %s: %w", r.String(), err)
		}
	}
	return r.saveText(ctx, dir)
}

// removeMatching removes the files of a folder whose names match, none if there is no folder.
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
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (r *RDD[T]) saveText(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save %s: %w", r.String(), err)
	}
	write := textWriter[T]()
	_, err := everywhere(ctx, r.subject(), "saveAsTextFile", func(t *task, part int) (struct{}, error) {
		return struct{}{}, r.writePart(t, part, dir, write)
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "_SUCCESS"), nil, 0o644)
}

// writePart writes one partition to a file of its own name. Attempts of one task may overlap: each
// has its own temporary file, and the last rename wins with the same bytes.
func (r *RDD[T]) writePart(t *task, part int, dir string, write func(*bufio.Writer, T)) (err error) {
	f, err := os.CreateTemp(dir, fmt.Sprintf("_temporary-%05d-*", part))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// The cause goes back unchanged; what is left behind has a name no reader takes.
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	err = r.push(t, part, func(chunk []T) error {
		for _, x := range chunk {
			write(w, x)
			if err := w.WriteByte('\n'); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, fmt.Sprintf("part-%05d", part)))
}

// textWriter returns how records of T are written. A failed write is kept by the bufio.Writer and
// comes out of the next call that returns an error.
func textWriter[T any]() func(*bufio.Writer, T) {
	switch any(*new(T)).(type) {
	case string:
		return func(w *bufio.Writer, x T) { _, _ = w.WriteString(any(x).(string)) }
	case []byte:
		return func(w *bufio.Writer, x T) { _, _ = w.Write(any(x).([]byte)) }
	}
	return func(w *bufio.Writer, x T) { _, _ = fmt.Fprint(w, x) }
}
