package exampletest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Write writes a file of that name into a folder of its own and returns its path.
func Write(t *testing.T, name, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Numbers writes n lines "wK x", K counting from 0 to 9 again and again, and returns the file's path.
func Numbers(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "w%d x\n", i%10)
	}
	return Write(t, "in", text.String())
}
