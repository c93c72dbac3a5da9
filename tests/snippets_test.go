package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSnippetsOfTheDocsCompile compiles every Go snippet of the README and of the tutorial, and runs those that are tests.
//
// A snippet is a whole file if a comment in the line before it says where it belongs: <!-- snippet dir/file.go ... -->.
// Others are fragments: their functions and a function with the rest make a file.
func TestSnippetsOfTheDocsCompile(t *testing.T) {
	files := map[string]string{} // by path
	for _, page := range []string{"README.md", "docs/tutorial.md"} {
		snippets := snippetsOf(t, page)
		if len(snippets) == 0 {
			t.Errorf("%s has no Go snippet", page)
		}
		for _, s := range snippets {
			for _, path := range s.paths {
				if _, twice := files[path]; twice {
					t.Errorf("%s line %d: there is a %s already", page, s.line, path)
				}
				files[path] = s.code
			}
		}
	}
	// A folder testdata is not part of ./..., but inside the module.
	data := filepath.Join(root(t), "tests", "testdata")
	if err := os.MkdirAll(data, 0o777); err != nil {
		t.Fatal(err)
	}
	temp, err := os.MkdirTemp(data, "snippets-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	var dirs []string
	for path, code := range files {
		path = filepath.Join(temp, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test"}, dirs...)...)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd.Args[:2], err, out)
	}
}

type snippet struct {
	line  int
	paths []string
	code  string
}

var fileOf = regexp.MustCompile(`^<!-- snippet (.*) -->$`)

// snippetsOf returns the Go snippets of a page.
func snippetsOf(t *testing.T, page string) []snippet {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	var all []snippet
	for i := 0; i < len(lines); i++ {
		if lines[i] != "```go" {
			continue
		}
		s := snippet{line: i + 1}
		end := i + slices.Index(lines[i:], "```")
		code := strings.Join(lines[i+1:end], "\n") + "\n"
		if marked := fileOf.FindStringSubmatch(lines[i-1]); marked != nil {
			s.paths, s.code = strings.Fields(marked[1]), code
		} else {
			name := strings.ToLower(strings.NewReplacer("/", "_", ".", "_").Replace(page))
			suffix := ""
			if strings.Contains(code, "*testing.T") {
				suffix = "_test"
			}
			s.paths = []string{fmt.Sprintf("%s_%d/snippet%s.go", name, s.line, suffix)}
			s.code = fragment(code)
		}
		all = append(all, s)
		i = end
	}
	return all
}

var (
	assigned  = regexp.MustCompile(`(?m)^([a-z][A-Za-z0-9]*(?:, [a-z][A-Za-z0-9]*)*) :=`)
	qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)
)

// fragment makes a file of declarations and statements: what a reader would add is added.
func fragment(code string) string {
	var top, body strings.Builder
	inside := false
	for line := range strings.Lines(code) {
		switch {
		case inside:
			top.WriteString(line)
			inside = line != "}\n"
		case strings.HasPrefix(line, "func "):
			top.WriteString(line)
			inside = !strings.HasSuffix(line, "}\n")
		default:
			body.WriteString(line)
		}
	}
	known := map[string]string{
		"context": "context", "os": "os", "strings": "strings", "time": "time", "testing": "testing",
		"dstream": module + "/dstream", "rdd": module + "/rdd",
		"streamingcontext": module + "/streamingcontext", "streamtest": module + "/streamingcontext/streamtest",
		"crashtest": module + "/streamingcontext/streamtest/crashtest",
	}
	var imports []string
	use := func(name string) {
		if path, ok := known[name]; ok {
			imports = append(imports, path)
		}
	}
	for _, m := range qualifier.FindAllStringSubmatch(code, -1) {
		use(m[1])
	}
	var file strings.Builder
	rest := body.String()
	if strings.TrimSpace(rest) != "" {
		use("context")
	}
	slices.Sort(imports)
	file.WriteString("package snippet\n\n")
	for _, path := range slices.Compact(imports) {
		fmt.Fprintf(&file, "import %q\n", path)
	}
	file.WriteString("\n" + top.String())
	if strings.TrimSpace(rest) != "" {
		fmt.Fprintf(&file, "\nfunc _(ctx context.Context) {\n%s", rest)
		for _, m := range assigned.FindAllStringSubmatch(rest, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				fmt.Fprintf(&file, "_ = %s\n", name)
			}
		}
		file.WriteString("}\n")
	}
	return file.String()
}
