package web_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/web"
)

var rewrite = flag.Bool("rewrite", false, "write the pages of testdata anew")

// The pages are to be looked at in a browser when they are written anew.
func TestPages(t *testing.T) {
	ui := server(t, fixture(), nil)
	for name, path := range map[string]string{
		"streaming.html":     "/streaming/",
		"batch.html":         fmt.Sprintf("/streaming/batch/?id=%d", start+4*second),
		"runningbatch.html":  fmt.Sprintf("/streaming/batch/?id=%d", start+9*second),
		"statistics.json":    "/streaming/statistics",
		"receiver.json":      "/streaming/receivers/0",
		"receivers.json":     "/streaming/receivers",
		"batches.json":       "/streaming/batches?status=PROCESSING&status=QUEUED",
		"batch.json":         fmt.Sprintf("/streaming/batches/%d", start+4*second),
		"operations.json":    fmt.Sprintf("/streaming/batches/%d/operations", start+4*second),
		"operation.json":     fmt.Sprintf("/streaming/batches/%d/operations/0", start+9*second),
		"unknownbatch.html":  "/streaming/batch/?id=5",
		"unknownbatch.json":  "/streaming/batches/5",
		"unknownstatus.json": "/streaming/batches?status=DONE",
	} {
		t.Run(name, func(t *testing.T) {
			got := get(t, ui, path).Body.String()
			file := filepath.Join("testdata", name)
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(got, "\n"), strings.Split(string(want), "\n")); diff != "" {
				t.Errorf("%s (-got +want):\n%s", path, diff)
			}
		})
	}
}

// What section 7.3 demands of the first page, in words of its own.
func TestStreamingPageSaysWhatItMust(t *testing.T) {
	text := get(t, server(t, fixture(), nil), "/streaming/").Body.String()
	for _, want := range []string{
		"1 hour 2 minutes 3 seconds", "last 11 batches, 3 active, 8 completed", "Receivers: 1 / 1 active", "Avg: 1440.00 records/sec",
		"Active Batches (3)", "Completed Batches (last 8 out of 8)", "Failed due to error: print:", "2021-09-01 14:04:38", "interval 1 sec",
		"Batches have waited 4.1 sec for their turn; 2 batches wait.",
		"at main.go:31: 900 ms, 52% of its processing time",
		`<meta http-equiv="refresh" content="5">`, "queued", "processing", "1/2 (1 failed)", "ACTIVE",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	// Waiting batches come before those that run, newest first.
	order := []string{"14:04:41</a>", "14:04:40</a>", "14:04:39</a>", "14:04:38</a>", "14:04:37</a>"}
	at := -1
	for _, o := range order {
		i := strings.Index(text, o)
		if i <= at {
			t.Errorf("%s is out of order", o)
		}
		at = i
	}
}

func TestNamesAreShownAsText_U01(t *testing.T) {
	s := fixture()
	app := progress.New(progress.Options{App: hostile, Interval: time.Second, Operations: s.Operations()})
	pages := map[string]http.Handler{"fixture": server(t, s, nil), "app": server(t, app, nil)}
	for name, ui := range pages {
		for _, path := range []string{
			"/streaming/", fmt.Sprintf("/streaming/batch/?id=%d", start+4*second), fmt.Sprintf("/streaming/batch/?id=%d", start+9*second),
			"/streaming/batch/?id=%3Cscript%3Ealert(1)%3C/script%3E", "/streaming/?page=%22%3E%3Cscript%3E", "/streaming/nothing/%3Cscript%3E",
			"/streaming/batches/%3Cscript%3E", "/streaming/batches?status=%3Cscript%3E",
		} {
			w := get(t, ui, path)
			body := w.Body.String()
			if json := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json"); strings.Contains(body, "<script") || strings.Contains(body, "<img") && !json {
				t.Errorf("%s %s has markup of the program:\n%s", name, path, body)
			}
			if w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: headers %v", name, path, w.Header())
			}
		}
	}
	if body := get(t, pages["app"], "/streaming/").Body.String(); !strings.Contains(body, "&lt;script&gt;") {
		t.Error("the name is not shown at all")
	}
}

// Pages must be whole: every element that is opened is closed, drawings included.
func TestPagesAreWellFormed(t *testing.T) {
	ui := server(t, fixture(), nil)
	void := regexp.MustCompile(`<(meta|link|br)([^>]*)>`)
	for _, path := range []string{"/streaming/", fmt.Sprintf("/streaming/batch/?id=%d", start+4*second), fmt.Sprintf("/streaming/batch/?id=%d", start+9*second), "/streaming/batch/"} {
		body := get(t, ui, path).Body.String()
		_, body, _ = strings.Cut(body, "\n") // the doctype
		d := xml.NewDecoder(strings.NewReader(void.ReplaceAllString(body, "<$1$2/>")))
		d.Entity = xml.HTMLEntity
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
		for _, from := range []string{"http://", "https://", "//cdn", "javascript:", "<script", " style=", " onclick"} {
			if strings.Contains(body, from) {
				t.Errorf("%s has %q", path, from)
			}
		}
	}
}

func TestManyBatchesArePaged(t *testing.T) {
	s := progress.New(progress.Options{Interval: 100 * time.Millisecond})
	for i := range int64(120) {
		s.Listener().BatchCompleted(streamingcontext.BatchInfo{Time: dstream.Time(100 * (i + 1)), Submitted: 100, Started: 100, Ended: 105})
	}
	ui := server(t, s, nil)
	for query, want := range map[string]struct {
		rows         int
		first        string
		newer, older bool
	}{
		"":                    {50, "00:00:12.000", false, true},
		"?page=2&refresh=off": {50, "00:00:07.000", true, true},
		"?page=3":             {20, "00:00:02.000", true, false},
		"?page=4":             {50, "00:00:12.000", false, true},
		"?page=-1":            {50, "00:00:12.000", false, true},
		"?page=9999999999999": {50, "00:00:12.000", false, true},
	} {
		_, list, _ := strings.Cut(get(t, ui, "/streaming/"+query).Body.String(), "Completed Batches (last 120 out of 120)")
		rows := strings.Count(list, `<td class="t">`)
		if rows != want.rows || !strings.Contains(list[:strings.Index(list, "</a>")], want.first) ||
			strings.Contains(list, "Newer") != want.newer || strings.Contains(list, "Older") != want.older {
			t.Errorf("%q: %d rows:\n%s", query, rows, list)
		}
	}
	if body := get(t, ui, "/streaming/?refresh=off").Body.String(); strings.Contains(body, "http-equiv") {
		t.Error("a paused page refreshes itself")
	}
}

func TestEmptyStore(t *testing.T) {
	ui := server(t, progress.New(progress.Options{}), func(o *web.Options) { o.Refresh = -1 })
	body := get(t, ui, "/streaming/").Body.String()
	if !strings.Contains(body, "None has completed yet") || !strings.Contains(body, "Avg: –") || strings.Contains(body, "http-equiv") {
		t.Errorf("page:\n%s", body)
	}
	for path, want := range map[string]string{"/streaming/batches": "[]\n", "/streaming/receivers": "[]\n"} {
		if got := get(t, ui, path).Body.String(); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := get(t, ui, "/streaming/statistics").Body.String(); !strings.Contains(got, `"avgTotalDelay": null`) {
		t.Errorf("statistics: %s", got)
	}
}

// A window's job reads many batches; an odd lineage must neither hang nor break the page.
func TestLargeAndOddLineages(t *testing.T) {
	s := progress.New(progress.Options{Interval: time.Second, Operations: []dstream.Operation{{ID: 1, Op: "reduceByKey"}, {ID: 2, Op: "window"}}})
	s.Listener().BatchSubmitted(streamingcontext.BatchInfo{Time: 60000, Started: unknown, Ended: unknown,
		Outputs: []streamingcontext.OutputInfo{{Batch: 60000, Started: unknown, Ended: unknown}}})
	window := scheduler.RDDInfo{ID: lineage.NodeID{Scope: lineage.Scope{Batch: 60000, Stream: 2}}, Op: "union"}
	rdds := []scheduler.RDDInfo{window}
	for i := range int64(30) {
		id := lineage.NodeID{Scope: lineage.Scope{Batch: 1000 * (31 + i), Stream: 1}}
		rdds[0].Parents = append(rdds[0].Parents, id)
		rdds = append(rdds, scheduler.RDDInfo{ID: id, Op: "reduceByKey"})
	}
	circle := []scheduler.RDDInfo{
		{ID: lineage.NodeID{Scope: lineage.Scope{Batch: 1, Stream: 1}}, Parents: []lineage.NodeID{{Scope: lineage.Scope{Batch: 1, Stream: 2}}}},
		{ID: lineage.NodeID{Scope: lineage.Scope{Batch: 1, Stream: 2}}, Parents: []lineage.NodeID{{Scope: lineage.Scope{Batch: 1, Stream: 1}}}},
		{ID: lineage.NodeID{Ordinal: 7}, Op: "byHand", Site: "main.go:1"},
	}
	p := lineage.Properties{Batch: 60000}
	l := s.SchedulerListener()
	l.JobStarted(scheduler.JobStarted{Job: 1, Properties: p, Stages: []scheduler.StageInfo{{Stage: 0, Parents: []int{0, 5}}, {Stage: 1, Parents: []int{0, 1}}},
		RDDs: [][]scheduler.RDDInfo{circle, rdds}})
	many := scheduler.JobStarted{Job: 2, Properties: p}
	for i := range 100 {
		many.Stages = append(many.Stages, scheduler.StageInfo{Stage: 100 + i})
	}
	l.JobStarted(many)
	for i := range 250 { // more than a page lists
		l.JobStarted(scheduler.JobStarted{Job: 1000 + i, Properties: p})
	}
	body := get(t, server(t, s, nil), "/streaming/batch/?id=60000").Body.String()
	for _, want := range []string{"30 batches to 00:01:00", "100 stages: too many to draw", "and 52 more jobs", "byHand", "180 more jobs are not drawn"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if n := bytes.Count([]byte(body), []byte("<svg")); n != 1 {
		t.Errorf("%d drawings", n)
	}
}
