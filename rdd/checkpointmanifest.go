package rdd

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leat-io/leat/rdd/codec"
)

// A checkpointManifest says which files a durable checkpoint consists of. It is written last, so a checkpoint that has
// one is whole, and lies beside the parts as lines of text:
//
//	leatckpt manifest 1
//	parts 2
//	part part-00000-task-7-1234 5120 0a1b2c3d     name, bytes, CRC-32 (IEEE) of the file
//	part part-00001-task-8-5678 4711 4e5f6071
//	partitioner bGVhdHBhcnQ...                    where it can be told in bytes, in base64
//	end 99aabbcc                                  CRC-32C of the lines above
//
// Files that it does not list are of attempts that did not count. The checksum of a file has another polynomial than
// those of the frames in it: rows followed by their own checksum add nothing to a checksum of the same kind.
type checkpointManifest struct {
	parts       []checkpointPart
	partitioner []byte // as savedPartitioner.encode gives it; nil if there is none
	digest      string // SHA-256 of the manifest's bytes, in hexadecimal
}

// checkpointPart is a file of a durable checkpoint. It travels as a result of a task.
type checkpointPart struct {
	Name string
	Size int64
	Sum  uint32
}

const (
	manifestFirst = "leatckpt manifest 1"
	// maxManifest bounds the file that is read.
	maxManifest = 1 << 30
)

func manifestName(dir string) string { return filepath.Join(dir, "_manifest") }

// encode returns the manifest's bytes and notes their digest.
func (m *checkpointManifest) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nparts %d\n", manifestFirst, len(m.parts))
	for _, p := range m.parts {
		fmt.Fprintf(&b, "part %s %d %08x\n", p.Name, p.Size, p.Sum)
	}
	if m.partitioner != nil {
		fmt.Fprintf(&b, "partitioner %s\n", base64.StdEncoding.EncodeToString(m.partitioner))
	}
	fmt.Fprintf(&b, "end %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
	m.digest = digestOf(b.Bytes())
	return b.Bytes()
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// parseManifest is the inverse of encode.
func parseManifest(data []byte) (*checkpointManifest, error) {
	corrupt := func(reason string) error { return &codec.CorruptError{Reason: reason} }
	end := bytes.LastIndex(data, []byte("\nend ")) + 1
	if end == 0 || string(data[end:]) != fmt.Sprintf("end %08x\n", crc32.Checksum(data[:end], castagnoli)) {
		return nil, corrupt("the manifest is cut off, or its checksum differs")
	}
	lines := strings.Split(string(data[:end-1]), "\n")
	if lines[0] != manifestFirst || len(lines) < 2 {
		return nil, corrupt("not a manifest of a version that is known")
	}
	count, ok := strings.CutPrefix(lines[1], "parts ")
	n, err := strconv.Atoi(count)
	if lines = lines[2:]; !ok || err != nil || n < 0 || n > len(lines) || len(lines)-n > 1 {
		return nil, corrupt("the manifest's number of parts differs")
	}
	m := &checkpointManifest{parts: make([]checkpointPart, n), digest: digestOf(data)}
	for i := range m.parts {
		if m.parts[i], ok = parsePart(lines[i]); !ok {
			return nil, corrupt(fmt.Sprintf("line %q of the manifest", lines[i]))
		}
	}
	for _, line := range lines[n:] {
		text, ok := strings.CutPrefix(line, "partitioner ")
		if m.partitioner, err = base64.StdEncoding.DecodeString(text); !ok || err != nil {
			return nil, corrupt(fmt.Sprintf("line %.40q of the manifest", line))
		}
	}
	return m, nil
}

func parsePart(line string) (p checkpointPart, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 4 || fields[0] != "part" || !strings.HasPrefix(fields[1], "part-") || strings.ContainsAny(fields[1], `/\`) {
		return p, false
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	sum, wrong := strconv.ParseUint(fields[3], 16, 32)
	return checkpointPart{Name: fields[1], Size: size, Sum: uint32(sum)}, err == nil && wrong == nil && size >= 0
}

// readManifest returns the manifest of a folder; an error that is fs.ErrNotExist if it has none.
func readManifest(dir string) (*checkpointManifest, error) {
	f, err := os.Open(manifestName(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", manifestName(dir), err)
	}
	return m, nil
}

// writeManifest writes the manifest, and makes it, the names in the folder and the folder's own name durable.
func writeManifest(dir string, m *checkpointManifest) error {
	f, err := os.OpenFile(manifestName(dir), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(m.encode())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return errors.Join(syncFolder(dir), syncFolder(filepath.Dir(dir)))
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// stat checks that the files of a checkpoint are there, with their lengths.
func (m *checkpointManifest) stat(dir string) error {
	for _, p := range m.parts {
		name := filepath.Join(dir, p.Name)
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.Size() != p.Size {
			return fmt.Errorf("checkpoint %s: %w", name, &codec.CorruptError{Reason: fmt.Sprintf("it has %d bytes, %d were written", info.Size(), p.Size)})
		}
	}
	return nil
}

// VerifyCheckpoint reads all files of a checkpoint that was written under Options.DurableCheckpoints and compares
// them with its manifest. The digest is that of RDD.CheckpointFolder; an empty one accepts any manifest that is whole.
//
// Cost: one pass over the bytes, which are not decoded.
// Errors: fs.ErrNotExist for a file, or the manifest, that is missing; codec.ErrCorrupt for one that differs. Both name the file.
func VerifyCheckpoint(dir, digest string) error {
	m, err := readManifest(dir)
	if err == nil {
		err = m.is(dir, digest)
	}
	if err == nil {
		err = m.stat(dir)
	}
	if err != nil {
		return err
	}
	for _, p := range m.parts {
		if err := p.verify(filepath.Join(dir, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// is checks that it is the manifest that was written, not one of an earlier time.
func (m *checkpointManifest) is(dir, digest string) error {
	if digest == "" || m.digest == digest {
		return nil
	}
	return fmt.Errorf("checkpoint %s: %w", manifestName(dir), &codec.CorruptError{Reason: "it is not the manifest that was written: its digest differs"})
}

func (p checkpointPart) verify(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if h.Sum32() != p.Sum {
		return fmt.Errorf("checkpoint %s: %w", name, errOtherFile)
	}
	return nil
}

var errOtherFile = &codec.CorruptError{Reason: "it is not the file that was written: its checksum differs"}

// openCheckpoint finds out what a folder holds: by its manifest, or where it has none by its parts. With a digest it must
// have that very manifest.
func openCheckpoint(dir, digest string) (checkpointFiles, error) {
	m, err := readManifest(dir)
	switch {
	case err == nil:
		if err = m.is(dir, digest); err == nil {
			err = m.stat(dir)
		}
	case digest == "" && errors.Is(err, fs.ErrNotExist):
		_, err = countParts(dir)
	}
	return checkpointFiles{dir: dir, manifest: m}, err
}
