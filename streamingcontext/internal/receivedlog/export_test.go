package receivedlog

import "os"

// DataSync is the flush of a file that the log uses.
func DataSync(f *os.File) error { return dataSync(f) }

// SystemFS is the file system of this machine.
var SystemFS FS = systemFS{}
