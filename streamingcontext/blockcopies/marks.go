package blockcopies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// Two small files are beside the logs. The promise is the newest epoch whose leader was answered; cleaned is a segment before which nothing is needed,
// its epoch and number. Each is a mark of eight bytes, its numbers in eight bytes each, little-endian, and the CRC-32C of these.
const (
	promiseName = "promise"
	promiseMark = "leatbprm"
	cleanedName = "cleaned"
	cleanedMark = "leatbcln"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readMark returns the numbers in a file, zeros where there is none.
func readMark(dir, name, mark string, numbers ...*uint64) error {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	end := len(mark) + 8*len(numbers)
	if len(data) != end+4 || string(data[:len(mark)]) != mark || binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return fmt.Errorf("%s is damaged", path)
	}
	for i, n := range numbers {
		*n = binary.LittleEndian.Uint64(data[len(mark)+8*i:])
	}
	return nil
}

// writeMark makes numbers durable. The file is the old one or the new one, whatever happens.
func writeMark(dir, name, mark string, numbers ...uint64) error {
	data := []byte(mark)
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
	path := filepath.Join(dir, name)
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close() // nothing was written through it
	return err
}
