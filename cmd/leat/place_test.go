package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/blobstore/s3store/s3test"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/streamingcontext"
)

// fill runs a program for three batches whose driver log and checkpoints are in a store.
func fill(t *testing.T, store blobstore.Store, prefix string) {
	t.Helper()
	log, err := objectlog.Open(t.Context(), store, objectlog.Options{Node: "first", Prefix: prefix, SnapshotEvery: 8})
	if err != nil {
		t.Fatal(err)
	}
	clock := new(streamingcontext.ManualClock)
	opts := streamingcontext.Options{App: "app", Interval: time.Second, Clock: clock, Log: log, Store: store, KeepCheckpoints: 2}
	ssc, err := streamingcontext.GetOrCreate("", opts, func(ssc *streamingcontext.Context) error {
		words := dstream.SliceStream(ssc.Graph(), [][]string{{"b", "a"}, nil, {"a"}}, 1)
		state := dstream.UpdateStateByKey(dstream.CountByValue(words), func(n []int64, _ rdd.Option[int64]) rdd.Option[int64] {
			return rdd.Option[int64]{Value: int64(len(n)), OK: true}
		})
		dstream.ForeachRDD(state, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int64]], _ dstream.Time) error {
			_, err := r.Count(ctx)
			return err
		})
		return state.Checkpoint(time.Second)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for at := int64(1000); at <= 3000; at += 1000 {
		clock.Set(at)
		if err := ssc.Settled(t.Context(), dstream.Time(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// failing runs a command line that must fail and returns its error.
func failing(t *testing.T, args ...string) string {
	t.Helper()
	err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer))
	if err == nil {
		t.Fatalf("leat %q does not fail", args)
	}
	return err.Error()
}

// looked checks what the commands print of a store that fill has filled.
func looked(t *testing.T, where string, more ...string) {
	t.Helper()
	on := func(args ...string) string { return leat(t, append(append(args, where), more...)...) }
	dump := on("log", "dump")
	for _, want := range []string{
		`^log [0-9a-f]{32}, snapshot at index \d+, then \d+ entries\nowner first: \S+, process \d+ on .*, epoch 1, has closed it\n`, `\tcommitted\tapp\tbatch 2\n`,
		`application app: next batch 3, 0 open, \d+ kept, last committed 2 at 3000 ms, checkpoint of batch 2\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(dump) {
			t.Errorf("the dump has no %q:\n%s", want, dump)
		}
	}
	for line := range strings.Lines(on("log", "dump", "-o", "json")) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
	if got := on("log", "verify"); !regexp.MustCompile(`^ok: \d+ entries, \d+ objects\n$`).MatchString(got) {
		t.Errorf("log verify prints %q", got)
	}
	if got := on("checkpoint", "ls"); !regexp.MustCompile(
		`^checkpoints/checkpoint-\S+2-1\tbatch 2\ttime 3000\t\d files of state\tcounts\ncheckpoints/checkpoint-\S+1-1\tbatch 1\ttime 2000\t\d files of state\n$`).MatchString(got) {
		t.Errorf("checkpoint ls prints %q", got)
	}
	if got := on("checkpoint", "verify"); !regexp.MustCompile(`^ok: \d+ log entries, 1 applications, 1 checkpoints, \d folders of state`).MatchString(got) {
		t.Errorf("checkpoint verify prints %q", got)
	}
}

// contents returns what a folder holds.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAStoreInAFolder(t *testing.T) {
	dir := t.TempDir()
	store, err := folder.Open(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, store, "log/of/app")
	before := contents(t, dir)
	where := "folderstore:" + dir
	looked(t, where, "-driver", "log/of/app")
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("looking has changed (-before +after):\n%s", diff)
	}
	for want, args := range map[string][]string{
		"no driver log driver: file does not exist": {"log", "verify", where},
		"has no driver log other":                   {"checkpoint", "ls", where, "-driver=other"},
		"prefix":                                    {"checkpoint", "ls", where, "-driver", "/"},
		"no such file":                              {"log", "dump", where + "x"},
	} {
		if got := failing(t, args...); !strings.Contains(got, want) {
			t.Errorf("leat %q: %s", args, got)
		}
	}
	if _, err := os.Stat(dir + "x"); err == nil {
		t.Error("looking has made a folder")
	}
	for _, args := range [][]string{{"clone", where, t.TempDir()}, {"clone", t.TempDir(), where}, {"rewind", where, "-list"}, {"rewind", where, "-to", "1"}, {"rewind", t.TempDir(), "-to=1", "-into", where}} {
		if got := failing(t, append([]string{"checkpoint"}, args...)...); !strings.Contains(got, "not on stores") {
			t.Errorf("checkpoint %q: %s", args, got)
		}
	}
}

// damage changes a byte of the files whose names match.
func damage(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatal(pattern, found, err)
	}
	last := found[len(found)-1]
	data, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(last, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestDamagedStoresAreNamed(t *testing.T) {
	for pattern, commands := range map[string][]string{
		"driver/log/*":           {"log dump", "log verify", "checkpoint ls", "checkpoint verify"},
		"driver/snapshot/*":      {"log dump", "log verify", "checkpoint verify"},
		"checkpoints/checkpoint": {"checkpoint verify"},
		"state/*/part-*":         {"checkpoint verify"},
	} {
		dir := t.TempDir()
		store, err := folder.Open(dir, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, store, "driver")
		if pattern == "checkpoints/checkpoint" {
			pattern += "-*"
		}
		name, err := filepath.Rel(dir, damage(t, filepath.Join(dir, filepath.FromSlash(pattern))))
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			if got := failing(t, append(strings.Fields(command), "folderstore:"+dir)...); !strings.Contains(got, filepath.ToSlash(name)) {
				t.Errorf("%s with %s damaged: %s", command, name, got)
			}
		}
		if strings.HasPrefix(pattern, "checkpoints") {
			if got := leat(t, "checkpoint", "ls", "folderstore:"+dir); strings.Count(got, "damaged") != 1 {
				t.Errorf("checkpoint ls prints %q", got)
			}
		}
	}
}

func TestAStoreInABucket(t *testing.T) {
	server, opts := s3test.Start(t)
	store, err := s3store.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	fill(t, store, "driver")
	at := func(endpoint string) string {
		return "s3://" + opts.Bucket + "/" + opts.Prefix + "?" + url.Values{"endpoint": {endpoint}, "path-style": {"true"}}.Encode()
	}
	// From here on the bucket can only be read.
	server.SetPlan(func(r s3test.Request) s3test.Fault {
		if r.Method != "GET" && r.Method != "HEAD" {
			t.Errorf("the request %v writes", r)
		}
		return s3test.None
	})
	withKeys := strings.Replace(opts.Endpoint, "://", "://key:secret@", 1)
	looked(t, at(withKeys))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	if got := failing(t, "log", "dump", at(opts.Endpoint)); !strings.Contains(got, "AWS_ACCESS_KEY_ID") {
		t.Errorf("without keys: %s", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	looked(t, at(opts.Endpoint))
	if got := failing(t, "checkpoint", "rewind", at(withKeys), "-to", "1"); !strings.Contains(got, "not on stores") || strings.Contains(got, "secret") {
		t.Errorf("rewind: %s", got)
	}
	for _, where := range []string{
		"s3://bucket/p", "s3:///p?endpoint=" + opts.Endpoint, "s3://secret@bucket?region=x", "s3://bucket?endpoint=http://a:secret@b.example", "s3://bucket?region=x&x=secret",
		"s3://bucket?region=x&region=y", "s3://bucket?region=x&path-style=secret", "s3://bucket?endpoint=http://:secret%25zz@a", "s3://secret%zz/", "s3://bucket?endpoint=%zzsecret", "s3://bucket/a//b?region=x",
	} {
		if got := failing(t, "log", "verify", where); strings.Contains(got, "secret") {
			t.Errorf("%s: %s", where, got)
		}
	}
	amazon, err := bucketOptions("s3://bucket?region=eu-central-1", func(string) string { return "x" })
	if err != nil || amazon.Endpoint != "https://s3.eu-central-1.amazonaws.com" || amazon.Prefix != "" || amazon.SessionToken != "x" || !amazon.ReadOnly {
		t.Errorf("options %+v, %v", amazon, err)
	}
}
