package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A part is the file of one partition.
type part struct {
	Partition int    `json:"partition"`
	Name      string `json:"name"`
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
	Header    int64  `json:"header,omitempty"` // bytes before the first row
	Sum       digest `json:"sha256"`
}

// A staging is what the driver log keeps of a batch until it is committed. Partitions without rows have no file.
type staging struct {
	Batch      int64
	Format     string
	Lines      bool
	Partitions int
	Files      []part // partitions rise
}

const (
	stagedVersion = 1
	// maxPartitions bounds what is believed of the number of partitions.
	maxPartitions = 1 << 24
	// maxName bounds the name of a file: a partition, an attempt, a suffix.
	maxName = 200
	// leastPart is the length of the shortest part: five numbers, a name, a digest.
	leastPart = 5 + 1 + len(digest{})
)

var errStaged = errors.New("not what Seal returned")

// appendPart appends the note of a part.
func appendPart(buf []byte, f part) []byte {
	buf = binary.AppendUvarint(buf, uint64(f.Partition))
	buf = binary.AppendUvarint(buf, uint64(f.Rows))
	buf = binary.AppendUvarint(buf, uint64(f.Bytes))
	buf = binary.AppendUvarint(buf, uint64(f.Header))
	buf = appendText(buf, f.Name)
	return append(buf, f.Sum[:]...)
}

func (s staging) append(buf []byte) []byte {
	buf = append(buf, stagedVersion)
	buf = binary.AppendUvarint(buf, uint64(s.Batch))
	buf = appendText(buf, s.Format)
	lines := byte(0)
	if s.Lines {
		lines = 1
	}
	buf = append(buf, lines)
	buf = binary.AppendUvarint(buf, uint64(s.Partitions))
	buf = binary.AppendUvarint(buf, uint64(len(s.Files)))
	for _, f := range s.Files {
		buf = appendPart(buf, f)
	}
	return buf
}

// decodeStaged returns what append wrote. Everything is checked: the bytes have been on a disk.
func decodeStaged(data []byte) (staging, error) {
	r := reader{data: data}
	if v := r.byte(); v != stagedVersion && r.err == nil {
		return staging{}, fmt.Errorf("%w: version %d, want %d", errStaged, v, stagedVersion)
	}
	var s staging
	s.Batch = r.int(1<<63 - 1)
	s.Format = r.text(64)
	lines := r.byte()
	s.Lines = lines == 1
	s.Partitions = int(r.int(maxPartitions))
	n := r.int(int64(min(s.Partitions, len(r.data)/leastPart)))
	if r.err == nil && (lines > 1 || !plain(s.Format) || s.Format == "") {
		r.err = errStaged
	}
	if r.err != nil {
		return staging{}, r.err
	}
	s.Files = make([]part, 0, n)
	for range n {
		s.Files = append(s.Files, r.part())
	}
	if r.err == nil && len(r.data) > 0 {
		r.err = errStaged
	}
	if r.err == nil {
		r.err = checkParts(s.Files, s.Partitions)
	}
	return s, r.err
}

// checkParts refuses files that cannot be those of a batch.
func checkParts(files []part, partitions int) error {
	last := -1
	for _, f := range files {
		prefix := fmt.Sprintf("part-%05d-", f.Partition)
		switch {
		case f.Partition <= last || f.Partition >= partitions:
			return fmt.Errorf("partition %d after %d, of %d", f.Partition, last, partitions)
		case !strings.HasPrefix(f.Name, prefix) || len(f.Name) > maxName || len(f.Name) == len(prefix) || !plain(f.Name):
			return fmt.Errorf("file %.99q of partition %d", f.Name, f.Partition)
		case f.Rows < 0 || f.Bytes < 0 || f.Header < 0 || f.Header > f.Bytes:
			return fmt.Errorf("file %s has %d rows, %d bytes, %d of them header", f.Name, f.Rows, f.Bytes, f.Header)
		}
		last = f.Partition
	}
	return nil
}

func appendText(buf []byte, text string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}

// A reader takes apart bytes that may be anything. After an error it returns zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.data) {
		r.err, r.data = errStaged, nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// int reads a number of at most limit.
func (r *reader) int(limit int64) int64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > uint64(limit) || r.err != nil {
		r.err, r.data = errStaged, nil
		return 0
	}
	r.data = r.data[n:]
	return int64(v)
}

func (r *reader) text(limit int64) string { return string(r.take(int(r.int(limit)))) }

func (r *reader) part() part {
	f := part{Partition: int(r.int(maxPartitions)), Rows: r.int(1<<63 - 1), Bytes: r.int(1<<63 - 1), Header: r.int(1<<63 - 1), Name: r.text(maxName)}
	copy(f.Sum[:], r.take(len(f.Sum)))
	return f
}
