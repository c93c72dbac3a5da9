package files

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink"
)

// The folders of an output.
const (
	dataDir    = "data"
	commitsDir = "commits"
	epochsDir  = "epochs"
	tmpDir     = "tmp"
)

// longest is how long the folder name of an application or output may become. File systems have 255.
const longest = 180

// paths are where the files of one output are.
type paths struct {
	root  string
	named bool // app and output are known
	app   string
	name  string
}

func pathsOf(dir, app, output string) paths {
	return paths{root: filepath.Join(dir, escape(app), escape(output)), named: true, app: app, name: output}
}

func (p paths) dir(name string) string       { return filepath.Join(p.root, name) }
func (p paths) batch(id int64) string        { return filepath.Join(p.root, dataDir, number(id)) }
func (p paths) manifest(id int64) string     { return filepath.Join(p.root, commitsDir, number(id)) }
func (p paths) epoch(e uint64) string        { return filepath.Join(p.root, epochsDir, numberOf(e)) }
func (p paths) part(id int64, f part) string { return filepath.Join(p.batch(id), f.Name) }
func (p paths) temporary(b sink.Batch, n int) string {
	return filepath.Join(p.root, tmpDir, fmt.Sprintf("%s-%d-%d", number(b.ID), b.Epoch, n))
}

// number writes ids so that their names sort as they do.
func number(id int64) string { return fmt.Sprintf("%020d", id) }

func numberOf(e uint64) string { return fmt.Sprintf("%020d", e) }

// parseNumber returns the id that number wrote.
func parseNumber(name string) (int64, bool) {
	if len(name) != 20 {
		return 0, false
	}
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id >= 0 && number(id) == name
}

func parseEpoch(name string) (uint64, bool) {
	e, err := strconv.ParseUint(name, 10, 64)
	return e, err == nil && numberOf(e) == name
}

// parseTemporary returns the batch of a temporary manifest.
func parseTemporary(name string) (int64, bool) {
	if len(name) < 21 || name[20] != '-' {
		return 0, false
	}
	return parseNumber(name[:20])
}

// partName is the file of an attempt at a partition.
func partName(part int, attempt, suffix string) string {
	return fmt.Sprintf("part-%05d-%s%s", part, attempt, suffix)
}

// checkAttempt refuses what cannot be part of a file name.
func checkAttempt(attempt string) error {
	if attempt == "" || len(attempt) > 128 || !plain(attempt) {
		return fmt.Errorf("attempt %q: want 1 to 128 letters, digits, dots and hyphens", attempt)
	}
	return nil
}

// plain reports whether name holds only letters, digits, dots and hyphens.
func plain(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// escape returns the folder name of an application or an output: itself, if it consists of small letters, digits, hyphens,
// underscores and inner dots; other bytes become % and two hex digits, capitals too, since some file systems see no
// difference. Names that a system or this package keeps for itself have their first byte escaped. What is too long ends with its
// hash after %%, which nothing else holds.
func escape(name string) string {
	if name == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case i == 0 && reserved(name):
			fmt.Fprintf(&b, "%%%02x", c)
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0 && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() <= longest {
		return b.String()
	}
	return fmt.Sprintf("%s%%%%%x", b.String()[:100], sha256.Sum256([]byte(name)))
}

// reserved reports whether a folder may not have the name.
func reserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	if len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && '0' <= base[3] && base[3] <= '9' {
		return true
	}
	switch name {
	case dataDir, commitsDir, epochsDir, tmpDir:
		return true
	}
	return false
}
