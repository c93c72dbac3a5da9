package streamingcontext

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream"
)

// A checkpointBody is what recovery needs besides the driver log: everything up to a batch.
type checkpointBody struct {
	App     string
	Batch   int64 // the last batch it holds
	Time    int64 // of that batch, in milliseconds
	Keep    int64 // the first batch whose inputs it needs; 0, all that are kept, in files of builds that did not tell
	Known   int64 `json:",omitempty"` // from this time on the driver log knows every batch there was; 0 where that is not told
	Streams []dstream.StreamCheckpoint
	Inputs  []savedInput
}

// savedInput is what an input remembers beyond the batches that are recorded.
type savedInput struct {
	Stream int
	Name   string
	Data   []byte
}

// checkpointMagic begins a checkpoint file: a line of it, the length and the SHA-256 of the JSON that follows.
const (
	checkpointMagic = "leat-checkpoint-1"
	maxCheckpoint   = 256 << 20
)

// writeCheckpoint makes a checkpoint durable and returns what the driver log is told of it: the file's name behind the digest of
// all its bytes.
func (d *durable) writeCheckpoint(body checkpointBody, epoch uint64) (manifest []byte, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	data := fmt.Appendf(nil, "%s %d %x\n", checkpointMagic, len(content), sum)
	data = append(data, content...)
	name := fmt.Sprintf("checkpoint-%020d-%d", body.Batch, epoch)
	if err := d.storage.write(checkpointsFolder+"/"+name, data); err != nil {
		return nil, err
	}
	whole := sha256.Sum256(data)
	return append(whole[:], name...), nil
}

// readCheckpoint returns the checkpoint that the driver log names.
//
// Errors: ErrDamaged naming the file if it is not what was written; fs.ErrNotExist.
func (d *durable) readCheckpoint(manifest []byte) (*checkpointBody, error) {
	if len(manifest) <= sha256.Size || strings.ContainsAny(string(manifest[sha256.Size:]), `/\`) {
		return nil, fmt.Errorf("%w: record of a checkpoint", ErrDamaged)
	}
	name := checkpointsFolder + "/" + string(manifest[sha256.Size:])
	path := d.storage.path(name)
	data, err := d.storage.read(name, maxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	if whole := sha256.Sum256(data); !bytes.Equal(whole[:], manifest[:sha256.Size]) {
		return nil, fmt.Errorf("%w: %s is not the file that the driver log names", ErrDamaged, path)
	}
	return decodeCheckpoint(path, data)
}

// decodeCheckpoint takes the bytes of a checkpoint file apart.
func decodeCheckpoint(path string, data []byte) (*checkpointBody, error) {
	head, content, _ := bytes.Cut(data, []byte("\n"))
	fields := strings.Fields(string(head))
	if len(fields) != 3 || fields[0] != checkpointMagic {
		return nil, fmt.Errorf("%w: %s is no checkpoint of a version that this build knows", ErrDamaged, path)
	}
	sum := sha256.Sum256(content)
	if fields[1] != strconv.Itoa(len(content)) || fields[2] != hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("%w: %s: length or checksum", ErrDamaged, path)
	}
	body := new(checkpointBody)
	if err := json.Unmarshal(content, body); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return body, nil
}
