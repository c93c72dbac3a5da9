package rdd

import "hash/crc32"

// castagnoli is the polynomial of all checksums of this package: processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
