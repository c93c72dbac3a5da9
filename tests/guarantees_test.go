package tests

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuaranteesNameTheirTests demands of every row in the tables of docs/guarantees.md that its last cell names a test, and of every
// test that the page names that there is one. A name without a package is of the package named before it in the cell; one that begins
// with a slash is a case of the test before it.
func TestGuaranteesNameTheirTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources, rows := testSources(t), 0
	for _, problem := range guaranteeProblems(string(text), sources, &rows) {
		t.Error(problem)
	}
	if rows < 20 {
		t.Errorf("%d rows of tables were found", rows)
	}
	// What must be found, in a page with one mistake a line.
	for line, want := range map[string]string{
		"| a | because | `tests/crash` |":                                    "names no test",
		"| a | because | `dstream.TestPrint_B23`; *no test of a crash* |":    "says no test",
		"| a | because | `dstream.TestOfNothing` |":                          "there is no test",
		"| a | because | `nowhere.TestPrint_B23` |":                          "there is no test",
		"| a | because | `TestPrint_B23` |":                                  "names no package",
		"| a | because | `dstream.TestRecovery/panes`, `/no_such_program` |": "there is no case",
		"Shown by `dstream.TestOfNothing`.":                                  "there is no test",
	} {
		if found := guaranteeProblems(line, sources, new(int)); len(found) != 1 || !strings.Contains(found[0], want) {
			t.Errorf("of %q: %q, want %q", line, found, want)
		}
	}
}

// named is a name of Go, with or without a package, or a case, in backquotes.
var named = regexp.MustCompile("`(?:([a-z][a-z0-9/]*)\\.)?([A-Z][A-Za-z0-9_]*)?((?:/[A-Za-z0-9_]+)*)`")

// guaranteeProblems returns what is wrong with a page, and adds up its rows.
func guaranteeProblems(page string, sources map[string]string, rows *int) (problems []string) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		cells := strings.Split(strings.Trim(line, "|"), "|")
		row := strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !strings.Contains(line, "| Shown by |")
		wrong := func(what string) { problems = append(problems, what+": "+line) }
		if row {
			*rows++
			if strings.Contains(line, "no test") {
				wrong("a row says no test")
			}
			if !strings.Contains(cells[len(cells)-1], "Test") {
				wrong("a row names no test")
			}
		}
		for _, cell := range cells {
			var pkg, test string
			for _, m := range named.FindAllStringSubmatch(cell, -1) {
				if m[1] != "" {
					pkg, test = m[1], ""
				}
				if m[2] != "" {
					test = m[2]
				}
				switch {
				case !strings.HasPrefix(test, "Test"):
				case pkg == "":
					wrong(test + " names no package")
				case !strings.Contains(sources[pkg], "\nfunc "+test+"(t *testing.T)"):
					wrong("there is no test " + test + " in " + pkg)
				case m[3] != "" && !strings.Contains(sources[pkg], `"`+m[3][1:]+`"`):
					wrong("there is no case " + m[3] + " of " + test)
				}
			}
		}
	}
	return problems
}

// testSources returns the tests of every package, by the last one, two and so on elements of its path.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, dir := range packageDirs(t) {
		files, err := filepath.Glob(filepath.Join(root(t), dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			for up := dir; up != "."; up = path.Dir(up) {
				name = path.Join(path.Base(up), name)
				sources[name] += string(text)
			}
		}
	}
	return sources
}
