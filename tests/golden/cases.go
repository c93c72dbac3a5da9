package golden

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Case is one recorded case as it was found.
type Case struct {
	ID    string            `json:"id"`
	Title string            `json:"title"`
	Dev   string            `json:"dev"` // the rule under which leat answers differently
	Leat  json.RawMessage   `json:"leat"`
	Ops   []json.RawMessage `json:"ops"`
	Nodes []json.RawMessage `json:"nodes"`
	Raw   json.RawMessage   `json:"-"`
}

// Kind returns "rdd" or "dstream", by the shape of the case, or nothing.
func (c *Case) Kind() string {
	switch {
	case c.Ops != nil:
		return "rdd"
	case c.Nodes != nil:
		return "dstream"
	}
	return ""
}

// ReadCases returns the cases of every *.json below dir, by file name.
//
// Errors: a file that is no array of cases, and two cases with one id.
func ReadCases(dir string) ([]Case, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find cases: %w", err)
	}
	slices.Sort(files)
	var cases []Case
	seen := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var raws []json.RawMessage
		if err := json.Unmarshal(text, &raws); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for i, raw := range raws {
			c := Case{Raw: raw}
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, fmt.Errorf("read case %d of %s: %w", i, file, err)
			}
			if before, ok := seen[c.ID]; ok {
				return nil, fmt.Errorf("case %s is in %s and in %s", c.ID, before, file)
			}
			seen[c.ID] = file
			cases = append(cases, c)
		}
	}
	return cases, nil
}
