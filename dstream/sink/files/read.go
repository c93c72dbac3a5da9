package files

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
)

// A Row is a line of a committed file.
type Row struct {
	App, Output string
	Batch       int64
	Time        int64 // of the batch, in milliseconds
	Partition   int
	Line        []byte // without its newline; valid until the next row
}

// inMemory is how many bytes of a batch are kept while they are checked. Of larger batches each file is read twice.
const inMemory = 8 << 20

// Read returns the rows of the committed batches below dir, which is the folder of a sink, of an application or of one output. All
// files of a batch are checked before its first row is returned.
//
// Order: applications and outputs by the names of their folders, then batches, partitions, rows in theirs. What is committed
// meanwhile may be there or not, each batch as a whole.
// Cost: memory for 8 MiB and the longest line. A batch that holds more is read twice.
// Errors: the first one is the last thing returned: *DamageError where a file is not what its manifest says; ErrFormat where files
// are not lines.
func Read(dir string, o ReadOptions) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		fsys := o.fs()
		err := committed(fsys, dir, o, func(at paths, m *manifest) (goOn bool, err error) {
			if !m.Lines {
				return o.rowsOf(fsys, at, m, yield)
			}
			return readBatch(fsys, at, m, yield)
		})
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// passed reports whether the folder is one that o does not ask for.
func (f found) passed(o ReadOptions) bool {
	output, app := filepath.Base(f.at.root), filepath.Base(filepath.Dir(f.at.root))
	return o.Output != "" && f.levels > 0 && escape(o.Output) != output || o.App != "" && f.levels > 1 && escape(o.App) != app
}

// readBatch yields the rows of a batch. It returns false if the reader wants no more.
func readBatch(fsys FS, at paths, m *manifest, yield func(Row, error) bool) (goOn bool, err error) {
	total := int64(0)
	for _, f := range m.parts {
		if total += f.Bytes; total > inMemory || total < 0 {
			total = inMemory + 1
			break
		}
	}
	kept := make([]bytes.Buffer, len(m.parts))
	for i, f := range m.parts {
		var keep io.Writer
		if total <= inMemory {
			keep = &kept[i]
		}
		if err := check(fsys, at.part(m.Batch, f), f, keep); err != nil {
			return false, err
		}
	}
	for i, f := range m.parts {
		row := Row{App: m.App, Output: m.Output, Batch: m.Batch, Time: m.Time, Partition: f.Partition}
		goOn := true
		if total <= inMemory {
			goOn, err = lines(&kept[i], at.part(m.Batch, f), f, row, yield)
		} else {
			err = open(fsys, at.part(m.Batch, f), f, func(src io.Reader) (err error) {
				goOn, err = lines(src, at.part(m.Batch, f), f, row, yield)
				return err
			})
		}
		if !goOn {
			return false, nil // what was left unread of a file does not count
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// lines yields the rows of a file.
func lines(src io.Reader, name string, f part, row Row, yield func(Row, error) bool) (bool, error) {
	r := bufio.NewReaderSize(src, int(min(f.Bytes, blockSize)))
	if _, err := io.CopyN(io.Discard, r, f.Header); err != nil {
		return true, err
	}
	rows := int64(0)
	var long []byte // a line that is longer than the reader's buffer
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == nil && len(long) == 0:
		case err == bufio.ErrBufferFull:
			long = append(long, line...)
			continue
		case err == nil:
			long = append(long, line...)
			line = long
		case err == io.EOF && len(line)+len(long) == 0:
			if rows != f.Rows {
				return true, &DamageError{File: name, Problem: fmt.Sprintf("has %d rows, want %d", rows, f.Rows)}
			}
			return true, nil
		case err == io.EOF:
			return true, &DamageError{File: name, Problem: "its last row has no end"}
		default:
			return true, err
		}
		if rows++; rows > f.Rows {
			return true, &DamageError{File: name, Problem: fmt.Sprintf("has more than %d rows", f.Rows)}
		}
		row.Line = line[:len(line)-1]
		if !yield(row, nil) {
			return false, nil
		}
		long = long[:0]
	}
}

// check reads a file and compares it with what its manifest says. It copies it to keep, if that is not nil.
func check(fsys FS, name string, f part, keep io.Writer) error {
	return open(fsys, name, f, func(src io.Reader) error {
		if keep == nil {
			keep = io.Discard
		}
		_, err := io.Copy(keep, src)
		return err
	})
}

// open calls read with what a file holds, and then says whether that is what the manifest says. read must read to the end.
func open(fsys FS, name string, f part, read func(src io.Reader) error) error {
	info, err := fsys.Stat(name) // before anything is read of it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DamageError{File: name, Problem: "missing"}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &DamageError{File: name, Problem: "not a regular file"}
	case info.Size() != f.Bytes:
		return &DamageError{File: name, Problem: fmt.Sprintf("has %d bytes, want %d", info.Size(), f.Bytes)}
	}
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	src := &summing{src: io.LimitReader(file, f.Bytes+1), sum: sha256.New()}
	err = read(src)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if src.bytes != f.Bytes {
		return &DamageError{File: name, Problem: fmt.Sprintf("has %d bytes, want %d", src.bytes, f.Bytes)}
	}
	if digest(src.sum.Sum(nil)) != f.Sum {
		return &DamageError{File: name, Problem: "not what its checksum says"}
	}
	return nil
}

// A summing reader knows the length and the hash of what was read through it.
type summing struct {
	src   io.Reader
	sum   hash.Hash
	bytes int64
}

func (s *summing) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	s.sum.Write(p[:n])
	s.bytes += int64(n)
	return n, err
}
