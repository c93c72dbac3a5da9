package raftlog

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// identityFormat is the format of a node's folder. Another one is refused.
const identityFormat = 1

const maxIdentity = 4096 // bytes of an identity file

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An identity says which node a folder belongs to. It is written once, and once more when the cluster is known.
type identity struct {
	Format  int    `json:"format"`
	ID      string `json:"id"`                // name + "-" + 16 hexadecimal digits
	Cluster string `json:"cluster,omitempty"` // 32 hexadecimal digits, empty before the node has heard of it
}

// lockPath is the file whose lock a process has that uses the folder.
func lockPath(dir string) string { return filepath.Join(dir, "lock") }

func identityPath(dir string) string { return filepath.Join(dir, "identity") }

// newIdentity returns an identity that no other node has.
func newIdentity(name string) identity {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return identity{Format: identityFormat, ID: name + "-" + hex.EncodeToString(b[:])}
}

// nameOf returns the name within an id, and whether the id is one.
func nameOf(id string) (string, bool) {
	i := len(id) - 17
	if i < 1 || id[i] != '-' {
		return "", false
	}
	if _, err := hex.DecodeString(id[i+1:]); err != nil || strings.ToLower(id[i+1:]) != id[i+1:] {
		return "", false
	}
	return id[:i], validName(id[:i]) == nil
}

// readIdentity returns the identity of the node whose folder dir is.
//
// Errors: one that is os.ErrNotExist if there is none; *CorruptError; *IdentityError for another format.
func readIdentity(dir string) (identity, error) {
	path := identityPath(dir)
	f, err := os.Open(path)
	if err != nil {
		return identity{}, fmt.Errorf("read driver log identity: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIdentity+1))
	if err != nil {
		return identity{}, fmt.Errorf("read driver log identity: %w", err)
	}
	bad := func(what string) (identity, error) { return identity{}, &CorruptError{Dir: path, What: what} }
	line, sum, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(data) > maxIdentity || string(bytes.TrimSuffix(sum, []byte("\n"))) != checksumLine(line) {
		return bad("checksum")
	}
	var id identity
	if json.Unmarshal(line, &id) != nil {
		return bad("identity")
	}
	if id.Format != identityFormat {
		return identity{}, &IdentityError{Path: path, Reason: fmt.Sprintf("is of format %d, this build knows %d", id.Format, identityFormat)}
	}
	if _, ok := nameOf(id.ID); !ok {
		return bad("id")
	}
	if c, err := hex.DecodeString(id.Cluster); err != nil || len(c) != 0 && len(c) != clusterSize {
		return bad("cluster")
	}
	return id, nil
}

func checksumLine(line []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(line, castagnoli)) }

// write puts id into dir in the place of the identity that is there: one or the other is there after a crash.
func (id identity) write(dir string) error {
	line, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("write driver log identity: %w", err)
	}
	data := fmt.Appendf(line, "\n%s\n", checksumLine(line))
	path := identityPath(dir)
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("write driver log identity: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("write driver log identity: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ownIdentity returns the identity of the node in dir, made for a folder without one, which must hold nothing else of a node.
//
// Errors: *IdentityError where name is another's; *CorruptError.
func ownIdentity(dir, name string) (identity, error) {
	id, err := readIdentity(dir)
	if errors.Is(err, os.ErrNotExist) {
		for _, part := range []string{dbPath(dir), snapshotDir(dir)} {
			if _, err := os.Lstat(part); err == nil {
				return identity{}, &IdentityError{Path: identityPath(dir), Reason: "is missing, and " + part + " is there"}
			}
		}
		id = newIdentity(name)
		return id, id.write(dir)
	}
	if err != nil {
		return identity{}, err
	}
	if have, _ := nameOf(id.ID); have != name {
		return identity{}, &IdentityError{Path: identityPath(dir), Reason: fmt.Sprintf("belongs to node %s, not to %s", have, name)}
	}
	return id, nil
}

// Identify returns the id of the node whose folder dir is. A folder that is empty, or not there, becomes that of a new node called name: for whoever has
// to say who it is before the node is opened.
//
// Errors: as those of Open for the folder and its identity.
func Identify(dir, name string) (id string, err error) {
	if err := validName(name); err != nil {
		return "", fmt.Errorf("raftlog: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("identify node: %w", err)
	}
	lock, err := filelock.Take(lockPath(dir), dir, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	own, err := ownIdentity(dir, name)
	return own.ID, err
}
