package tests

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExportedNamesAreDocumented demands a comment for every exported name outside of examples and
// tests, and a doc.go in every package.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, dir := range packageDirs(t) {
		if strings.HasPrefix(dir, "examples") || strings.HasPrefix(dir, "tests") {
			continue
		}
		p := parse(t, dir, false)
		if p.Doc == "" {
			t.Errorf("%s: the package has no comment", dir)
		}
		if _, err := os.Stat(filepath.Join(root(t), dir, "doc.go")); err != nil {
			t.Errorf("%s: no doc.go", dir)
		}
		missing := func(name, text string) {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s has no comment", dir, name)
			}
		}
		values := func(vs []*doc.Value) {
			for _, v := range vs {
				for _, spec := range v.Decl.Specs {
					s := spec.(*ast.ValueSpec)
					for _, n := range s.Names {
						if n.IsExported() {
							missing(n.Name, v.Doc+s.Doc.Text()+s.Comment.Text())
						}
					}
				}
			}
		}
		values(p.Consts)
		values(p.Vars)
		for _, f := range p.Funcs {
			missing(f.Name, f.Doc)
		}
		for _, typ := range p.Types {
			missing(typ.Name, typ.Doc)
			values(typ.Consts)
			values(typ.Vars)
			for _, f := range typ.Funcs {
				missing(f.Name, f.Doc)
			}
			for _, m := range typ.Methods {
				if !conventional(m.Name) {
					missing(typ.Name+"."+m.Name, m.Doc)
				}
			}
		}
	}
}

// conventional reports methods whose meaning everybody knows.
func conventional(method string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is", "String"}, method)
}

// notOperators are exported names of rdd and dstream that take or give no data: what a graph, a
// context, an error or an option says of itself.
var notOperators = []string{
	// rdd
	"RDD.Context", "RDD.In", "RDD.Node", "RDD.Err", "RDD.String", "RDD.Level", "RDD.ID", "RDD.Op", "RDD.Site", "RDD.Deps",
	"RDD.NumPartitions", "RDD.Partitioner", "RDD.IsCheckpointed", "RDD.RemoveCheckpoint", "RDD.CheckpointFolder", "RDD.CheckpointFolders", "Rows.Each", "StorageLevel.String",
	"Context.In", "Context.Forget", "Context.Sweep", "Context.Options", "Context.Parallelism", "Context.Stop", "Options.Validate",
	"CSVOptions.Validate", "CSVSaveOptions.Validate",
	"NewErrorCodec", "CallSite", "RDD.Determinism", "RDD.Marks", "Accumulator.Name", "Accumulator.Add", "Accumulator.Local",
	"Accumulator.Value", "Accumulator.Reset", "Local.Add", "Local.Value", "Tally.Average", "Future.Wait", "Future.Cancel", "Future.Done",
	// dstream
	"DStream.Err", "DStream.Graph", "DStream.Info", "DStream.Remembered", "DStream.Slide", "Output.Err",
	"Graph.Err", "Graph.RDDs", "Graph.Interval", "Graph.Zero", "Graph.Scopes", "Graph.Seal", "Graph.Inputs", "Graph.InputInfos", "Graph.Start",
	"Graph.Generate", "Graph.Forget", "Graph.ForgetOutputs", "Graph.Remember", "Graph.Fingerprint", "NewGraph", "NewInput",
	"Graph.Nodes", "Graph.Checkpoint", "Graph.KeepCheckpoints", "Graph.FullCheckpoints", "Graph.OldestInput", "Graph.SinkOutputs", "Graph.CommitOutput",
	"Graph.LeaveOut", "Graph.Hold", "Graph.Coalescible", "Graph.Reach", "Graph.Due",
	"Graph.CleanOutput", "Graph.LastOf", "CheckpointFile.Folders",
	"Ancestor.Info", "Ancestor.Op", "Ancestor.Parents", "Ancestor.Remembered", "MultipleOf",
}

// TestOperatorsHaveExamples demands an Example with checked output for every operator, source, action and
// output of rdd and dstream.
func TestOperatorsHaveExamples(t *testing.T) {
	for _, dir := range []string{"rdd", "dstream"} {
		p := parse(t, dir, true)
		need := func(name string, examples []*doc.Example) {
			if slices.Contains(notOperators, name) || strings.HasPrefix(name, "HashPartitioner.") || strings.HasPrefix(name, "RangePartitioner.") || strings.HasPrefix(name, "Statistics.") {
				return
			}
			for _, e := range examples {
				if e.Output != "" || e.EmptyOutput {
					return
				}
			}
			t.Errorf("%s.%s has no Example with output", dir, name)
		}
		for _, f := range p.Funcs {
			need(f.Name, f.Examples)
		}
		for _, typ := range p.Types {
			isError := strings.HasSuffix(typ.Name, "Error") || strings.HasSuffix(typ.Name, "Info")
			for _, f := range typ.Funcs {
				if !strings.HasSuffix(typ.Name, "Option") {
					need(f.Name, f.Examples)
				}
			}
			for _, m := range typ.Methods {
				if !isError && !conventional(m.Name) {
					need(typ.Name+"."+m.Name, m.Examples)
				}
			}
		}
	}
}

// parse reads a package; with examples, its test files' examples are attached to what they show.
func parse(t *testing.T, dir string, examples bool) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	entries, err := os.ReadDir(filepath.Join(root(t), dir))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") && !examples {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(root(t), dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, module+"/"+dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// packageDirs lists the folders that hold Go files other than tests, relative to the root.
func packageDirs(t *testing.T) []string {
	t.Helper()
	var dirs []string
	base := root(t)
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			dir, err := filepath.Rel(base, filepath.Dir(path))
			if err != nil {
				return err
			}
			if dir = filepath.ToSlash(dir); !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// TestNoFileIsTooLong keeps files at one concept: a file that passes 500 lines is usually two.
func TestNoFileIsTooLong(t *testing.T) {
	base := root(t)
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), "\n"); n > 500 {
			t.Errorf("%s has %d lines", path, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoTestSleepsOrSkips: a test that waits for time to pass is slow or flaky, and one that skips shows
// nothing.
func TestNoTestSleepsOrSkips(t *testing.T) {
	base := root(t)
	self := filepath.Join(base, "tests", "docs_test.go")
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || path == self {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, bad := range []string{"time.Sleep(", ".Skip(", ".SkipNow(", ".Skipf("} {
			fake := bad == "time.Sleep(" && strings.Contains(string(text), "synctest.") // time stands still there
			if strings.Contains(string(text), bad) && !fake {
				t.Errorf("%s: %s", path, bad)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
