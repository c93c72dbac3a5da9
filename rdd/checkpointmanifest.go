package rdd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

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
// One whose parts are changes of records (see CheckpointSince) is of version 2. It names the folders it builds on, which lie beside its
// own, the newest first; a part says how many of them it needs the same part of:
//
//	leatckpt manifest 2
//	since rdd-40.3-77 a1b2...e4f5                 name, digest of its manifest
//	since rdd-30.3-12 00f1...2a3b
//	parts 1
//	part part-00000-task-7-1234 5120 0a1b2c3d 64000 1000 2000 2     ... entries, from and to of its slice, folders
//	end 99aabbcc
//
// Files that it does not list are of attempts that did not count. The checksum of a file has another polynomial than
// those of the frames in it: rows followed by their own checksum add nothing to a checksum of the same kind.
type checkpointManifest struct {
	parts       []checkpointPart
	partitioner []byte   // as savedPartitioner.encode gives it; nil if there is none
	changes     bool     // version 2
	since       []Folder // that parts build on, the newest first; names only
	digest      string   // SHA-256 of the manifest's bytes, in hexadecimal
}

// checkpointPart is a file of a durable checkpoint. It travels as a result of a task.
type checkpointPart struct {
	Name string
	Size int64
	Sum  uint32

	Span codec.Span // of changes: which entries it has whatever changed
	Back int        // of changes: how many of the folders before it needs
}

const (
	manifestFirst        = "leatckpt manifest 1"
	manifestFirstChanges = "leatckpt manifest 2"
	// maxManifest bounds the file that is read.
	maxManifest = 1 << 30
)

func manifestName(dir string) string { return filepath.Join(dir, "_manifest") }

// encode returns the manifest's bytes and notes their digest.
func (m *checkpointManifest) encode() []byte {
	var b bytes.Buffer
	if m.changes {
		fmt.Fprintln(&b, manifestFirstChanges)
	} else {
		fmt.Fprintln(&b, manifestFirst)
	}
	for _, f := range m.since {
		fmt.Fprintf(&b, "since %s %s\n", f.Dir, f.Digest)
	}
	fmt.Fprintf(&b, "parts %d\n", len(m.parts))
	for _, p := range m.parts {
		fmt.Fprintf(&b, "part %s %d %08x", p.Name, p.Size, p.Sum)
		if m.changes {
			fmt.Fprintf(&b, " %d %d %d %d", p.Span.Entries, p.Span.From, p.Span.To, p.Back)
		}
		b.WriteByte('\n')
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
	if lines[0] != manifestFirst && lines[0] != manifestFirstChanges || len(lines) < 2 {
		return nil, corrupt("not a manifest of a version that is known")
	}
	m := &checkpointManifest{digest: digestOf(data), changes: lines[0] == manifestFirstChanges}
	for lines = lines[1:]; m.changes && len(lines) > 1 && strings.HasPrefix(lines[0], "since "); lines = lines[1:] {
		f, ok := parseSince(lines[0])
		if !ok || len(m.since) == maxBack {
			return nil, corrupt(fmt.Sprintf("line %.200q of the manifest", lines[0]))
		}
		m.since = append(m.since, f)
	}
	count, ok := strings.CutPrefix(lines[0], "parts ")
	n, err := strconv.Atoi(count)
	if lines = lines[1:]; !ok || err != nil || n < 0 || n > len(lines) || len(lines)-n > 1 {
		return nil, corrupt("the manifest's number of parts differs")
	}
	m.parts = make([]checkpointPart, n)
	for i := range m.parts {
		if m.parts[i], ok = parsePart(lines[i], m.changes); !ok || m.parts[i].Back > len(m.since) {
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

func parsePart(line string, changes bool) (p checkpointPart, ok bool) {
	fields := strings.Split(line, " ")
	if changes && len(fields) == 8 {
		if p.Span, p.Back, ok = parseSpan(fields[4:]); !ok {
			return p, false
		}
		fields = fields[:4]
	} else if changes {
		return p, false
	}
	if len(fields) != 4 || fields[0] != "part" || !strings.HasPrefix(fields[1], "part-") || strings.ContainsAny(fields[1], `/\`) {
		return p, false
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	sum, wrong := strconv.ParseUint(fields[3], 16, 32)
	p.Name, p.Size, p.Sum = fields[1], size, uint32(sum)
	return p, err == nil && wrong == nil && size >= 0
}

// readManifest returns the manifest of a folder; an error that is fs.ErrNotExist if it has none.
func readManifest(ctx context.Context, store CheckpointStore, dir string) (*checkpointManifest, error) {
	f, _, err := openStored(ctx, store, manifestName(dir))
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
	if _, err := f.Write(m.encode()); err != nil {
		return errors.Join(err, f.Close())
	}
	// All at once: nobody is told of the checkpoint before the last of them, and a disk takes flushes together.
	var flushed [3]error
	var all sync.WaitGroup
	for i, flush := range []func() error{f.Sync, func() error { return syncFolder(dir) }, func() error { return syncFolder(filepath.Dir(dir)) }} {
		all.Go(func() { flushed[i] = flush() })
	}
	all.Wait()
	return errors.Join(flushed[0], flushed[1], flushed[2], f.Close())
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// is checks that it is the manifest that was written, not one of an earlier time.
func (m *checkpointManifest) is(dir, digest string) error {
	if digest == "" || m.digest == digest {
		return nil
	}
	return fmt.Errorf("checkpoint %s: %w", manifestName(dir), &codec.CorruptError{Reason: "it is not the manifest that was written: its digest differs"})
}

// parseSpan reads the last fields of the line of a part that is of changes.
func parseSpan(fields []string) (s codec.Span, back int, ok bool) {
	var n [4]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return s, 0, false
		}
	}
	s = codec.Span{Entries: n[0], From: n[1], To: n[2]}
	return s, int(n[3]), s.Valid() && 0 <= n[3] && n[3] <= maxBack
}
