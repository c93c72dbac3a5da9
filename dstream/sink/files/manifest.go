package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

const (
	manifestVersion = 1
	// maxManifest bounds what is read as a manifest. The driver log's bound on staged bytes comes first.
	maxManifest = 16 << 20
)

// A digest is a SHA-256. In text it is hexadecimal.
type digest [sha256.Size]byte

// MarshalText returns the digits.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads the digits.
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return errors.New("a digest of another length")
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// A manifest is the record of a committed batch: a line of JSON with what is said here, a line for each file, a line with the
// SHA-256 of the lines before it.
type manifest struct {
	Version    int    `json:"version"`
	App        string `json:"app"`
	Output     string `json:"output"`
	Batch      int64  `json:"batch"`
	Time       int64  `json:"time"`  // the batch time in milliseconds
	Epoch      uint64 `json:"epoch"` // of the driver that committed
	Staged     digest `json:"staged"`
	Format     string `json:"format"`
	Lines      bool   `json:"lines"`
	Partitions int    `json:"partitions"`
	Rows       int64  `json:"rows"`
	Files      int    `json:"files"`
	Previous   int64  `json:"previous"`    // the batch committed before, -1 where there was none
	PreviousIs digest `json:"previous_is"` // the SHA-256 line of its manifest
	Cleaned    int64  `json:"cleaned"`     // batches up to it hold no file that no manifest names

	parts []part
	sum   digest // of the lines before the last
}

// A seal is the last line of a manifest.
type seal struct {
	Sum digest `json:"sha256"`
}

// encode returns the manifest as bytes and sets its sum.
func (m *manifest) encode() ([]byte, error) {
	m.Version, m.Files, m.Rows = manifestVersion, len(m.parts), 0
	for _, f := range m.parts {
		m.Rows += f.Rows
	}
	var buf bytes.Buffer
	lines := json.NewEncoder(&buf)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(m); err != nil {
		return nil, err
	}
	for i := range m.parts {
		if err := lines.Encode(&m.parts[i]); err != nil {
			return nil, err
		}
	}
	m.sum = sha256.Sum256(buf.Bytes())
	if err := lines.Encode(&seal{m.sum}); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// decodeManifest returns what encode wrote.
func decodeManifest(data []byte) (*manifest, error) {
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil, errors.New("no whole manifest: its last line has no end")
	}
	cut := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	body, last := data[:cut], data[cut:]
	var s seal
	if err := strictly(last, &s); err != nil {
		return nil, fmt.Errorf("no whole manifest: its last line is no checksum: %w", err)
	}
	if s.Sum != sha256.Sum256(body) {
		return nil, errors.New("not what its checksum says")
	}
	if want, err := json.Marshal(s); err != nil || !bytes.Equal(append(want, '\n'), last) {
		return nil, errors.New("its checksum line is in no form that was written")
	}
	head, rest, _ := bytes.Cut(body, newline)
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(head, &version); err != nil {
		return nil, err
	}
	if version.Version != manifestVersion {
		return nil, fmt.Errorf("version %d, want %d", version.Version, manifestVersion)
	}
	m := &manifest{sum: s.Sum}
	if err := strictly(head, m); err != nil {
		return nil, err
	}
	if m.Partitions < 0 || m.Partitions > maxPartitions || m.Files < 0 || m.Files > m.Partitions || m.Files != bytes.Count(rest, newline) {
		return nil, fmt.Errorf("%d lines of files, want %d, of %d partitions", bytes.Count(rest, newline), m.Files, m.Partitions)
	}
	m.parts = make([]part, m.Files)
	for i := range m.parts {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		if err := strictly(line, &m.parts[i]); err != nil {
			return nil, err
		}
	}
	if m.Batch < 0 || m.Previous < -1 || m.Previous >= m.Batch || m.Previous < 0 && m.PreviousIs != (digest{}) {
		return nil, fmt.Errorf("batch %d after %d", m.Batch, m.Previous)
	}
	return m, checkParts(m.parts, m.Partitions)
}

// strictly decodes one line.
func strictly(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value in a line")
	}
	return nil
}

// readManifest returns the manifest of a batch; nil where there is none.
//
// Errors: *DamageError where the file is not what was written for that batch of that output.
func readManifest(fsys FS, p paths, id int64) (*manifest, error) {
	name := p.manifest(id)
	data, err := readFile(fsys, name, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(data)
	if err != nil {
		return nil, &DamageError{File: name, Problem: err.Error()}
	}
	if m.Batch != id || p.named && (m.App != p.app || m.Output != p.name) {
		return nil, &DamageError{File: name, Problem: fmt.Sprintf("is the manifest of batch %d of %q of %q", m.Batch, m.Output, m.App)}
	}
	return m, nil
}

// readFile returns a file of at most limit bytes.
func readFile(fsys FS, name string, limit int64) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &DamageError{File: name, Problem: fmt.Sprintf("longer than %d bytes", limit)}
	}
	return data, err
}
