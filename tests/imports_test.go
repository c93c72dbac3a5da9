package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the root.
const module = "github.com/leat-io/leat"

// layers says which packages of leat each package may import. A name that ends with "/..." stands for
// every package below it. Packages that are not listed may not exist.
var layers = []struct {
	pkg     string
	imports []string
}{
	{"internal/accept", nil},
	{"lineage", nil},
	{"rdd/codec", nil},
	{"rdd/keyed", nil},
	{"rdd/sketch", nil},
	{"rdd", []string{"lineage", "rdd/codec", "rdd/keyed", "rdd/sketch"}},
	{"scheduler", []string{"lineage"}},
	{"scheduler/executor", []string{"scheduler", "lineage"}},
	{"scheduler/local", []string{"scheduler", "scheduler/executor", "lineage"}},
	{"scheduler/schedulertest", []string{"scheduler", "lineage"}},
	{"scheduler/driverlog", nil},
	{"scheduler/driverlog/memlog", []string{"scheduler/driverlog"}},
	{"scheduler/driverlog/boltlog", []string{"scheduler/driverlog", "scheduler/driverlog/internal/..."}},
	{"scheduler/driverlog/objectlog", []string{"scheduler/driverlog", "scheduler/driverlog/internal/...", "blobstore"}},
	{"scheduler/driverlog/raftlog/link", nil},
	{"scheduler/driverlog/raftlog/link/linktest", []string{"scheduler/driverlog/raftlog/link"}},
	{"scheduler/driverlog/raftlog/admin", []string{"internal/accept", "scheduler/driverlog", "scheduler/driverlog/raftlog", "scheduler/driverlog/raftlog/link"}},
	{"scheduler/driverlog/raftlog", []string{"scheduler/driverlog", "scheduler/driverlog/internal/..."}},
	{"scheduler/driverlog/internal/...", []string{"scheduler/driverlog"}},
	{"scheduler/driverlog/logtest", []string{"scheduler/driverlog"}},
	{"blobstore", nil},
	{"blobstore/...", []string{"blobstore"}},
	{"blobstore/s3store/s3test", []string{"blobstore/s3store"}},
	{"dstream", []string{"rdd", "rdd/codec", "rdd/keyed", "lineage", "dstream/internal/...", "dstream/sink"}},
	{"dstream/internal/...", []string{"rdd/codec", "rdd/keyed"}},
	{"dstream/sink", nil},
	{"dstream/sink/...", []string{"dstream/sink"}},
	{"dstream/sink/internal/...", []string{"dstream/sink", "dstream/sink/files"}},
	{"dstream/sink/upsert", []string{"dstream/sink", "dstream/sink/files", "dstream/sink/internal/..."}},
	{"dstream/sink/httpsink", []string{"dstream/sink", "dstream/sink/files", "dstream/sink/internal/..."}},
	{"dstream/sink/parquetfiles", []string{"dstream/sink/files"}},
	{"dstream/sink/postgres", []string{"dstream/sink", "dstream/sink/upsert"}},
	{"receivers", []string{"rdd/codec"}},
	{"receivers/internal/...", nil},
	{"receivers/...", []string{"receivers", "receivers/internal/..."}},
	{"receivers/socket", []string{"receivers", "receivers/internal/...", "rdd/codec"}},
	{"streamingcontext", []string{"dstream", "dstream/sink", "rdd", "rdd/codec", "lineage", "receivers/...", "receivers", "scheduler", "scheduler/local",
		"scheduler/driverlog", "scheduler/driverlog/memlog", "scheduler/driverlog/boltlog", "blobstore", "streamingcontext/internal/..."}},
	{"streamingcontext/internal/...", nil},
	{"streamingcontext/internal/protocol", []string{"scheduler/driverlog"}},
	{"streamingcontext/blockcopies", []string{"internal/accept", "streamingcontext", "streamingcontext/internal/receivedlog"}},
	{"streamingcontext/progress", []string{"streamingcontext", "dstream", "scheduler"}},
	{"streamingcontext/cluster", []string{"streamingcontext", "streamingcontext/blockcopies", "streamingcontext/metrics", "streamingcontext/progress", "scheduler", "scheduler/driverlog", "scheduler/driverlog/raftlog", "scheduler/driverlog/raftlog/..."}},
	{"streamingcontext/metrics", []string{"streamingcontext", "streamingcontext/progress"}},
	{"streamingcontext/web", []string{"streamingcontext", "streamingcontext/progress", "dstream", "scheduler", "lineage"}},
	{"streamingcontext/streamtest", []string{"streamingcontext", "dstream", "rdd", "lineage", "receivers", "receivers/queue", "scheduler", "scheduler/local"}},
	{"streamingcontext/streamtest/proctest", nil},
	{"streamingcontext/streamtest/proctest/netns", []string{"streamingcontext/streamtest/proctest"}},
	{"streamingcontext/streamtest/faultdisk", nil},
	{"streamingcontext/streamtest/crashtest", []string{"streamingcontext", "dstream", "dstream/sink", "dstream/sink/files", "dstream/sink/sinktest/disk", "rdd", "receivers", "blobstore", "blobstore/folder", "scheduler/driverlog", "scheduler/driverlog/memlog"}},
	{"examples/...", []string{"..."}},
	{"tests", []string{"..."}},
	{"tests/...", []string{"..."}},
	{"cmd/...", []string{"..."}},
}

// outside says which modules only some packages may import outside of tests.
var outside = []struct {
	prefix string
	only   []string
}{
	{"github.com/hashicorp/raft", []string{"scheduler/driverlog/raftlog"}},
	{"github.com/apache/arrow-go", []string{"structured", "structured/..."}},
	{"github.com/jackc/pgx", []string{"dstream/sink/postgres"}},
	{"github.com/parquet-go/", []string{"dstream/sink/parquetfiles"}},
	{"go.etcd.io/bbolt", []string{"scheduler/driverlog/boltlog", "scheduler/driverlog/raftlog", "tests/crash/openlog"}},
	{"github.com/minio/", []string{"blobstore/s3store", "blobstore/s3store/s3test"}},
	{"github.com/google/go-cmp", []string{"scheduler/driverlog/logtest", "scheduler/schedulertest", "receivers/receiverstest", "streamingcontext/streamtest", "tests", "tests/..."}},
	{"go.uber.org/goleak", []string{"scheduler/schedulertest", "receivers/receiverstest", "tests", "tests/..."}},
	{"pgregory.net/rapid", []string{"tests", "tests/..."}},
	{"github.com/prometheus/", []string{"streamingcontext/metrics"}},
	{"github.com/hanwen/go-fuse", []string{"streamingcontext/streamtest/faultdisk"}},
	{"encoding/gob", nil},
	{"hash/maphash", nil},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsFollowTheLayers(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, known := layerOf(pkg)
		if !known {
			t.Errorf("package %s has no layer: add it to the table", pkg)
			continue
		}
		for _, imp := range p.Imports {
			if dep, ours := strings.CutPrefix(imp, module+"/"); ours {
				if !matchesAny(allowed, dep) {
					t.Errorf("%s imports %s, which its layer does not allow", pkg, dep)
				}
				continue
			}
			for _, rule := range outside {
				if strings.HasPrefix(imp, rule.prefix) && !matchesAny(rule.only, pkg) {
					t.Errorf("%s imports %s, which only %v may", pkg, imp, rule.only)
				}
			}
		}
	}
}

func TestLayersHaveNoEdgeTheTableForbids(t *testing.T) {
	// The rule that everything rests on, said once more in words: the scheduler sees only lineage.
	for _, bad := range [][2]string{{"scheduler", "rdd"}, {"rdd", "scheduler"}, {"lineage", "rdd"}, {"receivers", "dstream"}, {"dstream", "scheduler"}} {
		allowed, _ := layerOf(bad[0])
		if matchesAny(allowed, bad[1]) {
			t.Errorf("the table lets %s import %s", bad[0], bad[1])
		}
	}
}

// packages lists the packages of the module with what their non-test files import.
func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// layerOf returns what a package may import: the entry with its name, else the longest that stands for it.
func layerOf(pkg string) (imports []string, known bool) {
	best := -1
	for _, l := range layers {
		if matches(l.pkg, pkg) && len(l.pkg) > best {
			best, imports, known = len(l.pkg), l.imports, true
			if l.pkg == pkg {
				return imports, true
			}
		}
	}
	return imports, known
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

func matches(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(pkg, below+"/")
	}
	return pattern == pkg
}
