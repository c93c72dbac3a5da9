package driverlog_test

import (
	"encoding/binary"
	"hash/crc32"
)

// withChecksum returns body with the checksum that a snapshot ends with.
func withChecksum(body []byte) []byte {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(append([]byte(nil), body...), sum)
}
