package web

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler"
)

func TestUnits_E7(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0 ms", 900: "900 ms", 999: "999 ms", 1000: "1 sec", 1500: "1.5 sec", 59_999: "60 sec", 60_000: "1 min", 90_000: "1.5 min",
		5_400_000: "1.5 hrs", 86_399_000: "24 hrs", 129_600_000: "1.5 days", 1_234: "1.23 sec",
	} {
		if got := durationText(time.Duration(ms) * time.Millisecond); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
	at := time.Date(2021, 9, 1, 14, 4, 40, 452e6, time.UTC).UnixMilli()
	for interval, want := range map[time.Duration]string{time.Second: "14:04:40", 999 * time.Millisecond: "14:04:40.452", time.Minute: "14:04:40"} {
		if got := (calendar{time.UTC, interval}).clock(at); got != want {
			t.Errorf("interval %v: %q, want %q", interval, got, want)
		}
	}
	if got := (calendar{time.UTC, time.Second}).date(at); got != "2021-09-01 14:04:40" {
		t.Errorf("date %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100: "100"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 seconds", time.Second: "1 second", 3723 * time.Second: "1 hour 2 minutes 3 seconds", 48 * time.Hour: "2 days",
	} {
		if got := verbose(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestFailureTexts(t *testing.T) {
	if failureOf(nil) != nil {
		t.Error("a failure without an error")
	}
	f := failureOf(errors.New("first\nsecond"))
	if f.First != "Failed due to error: first" || f.Full != "first\nsecond" {
		t.Errorf("%+v", f)
	}
	if f := failureOf(&scheduler.JobError{Err: errors.New("x")}); f.First != "Failed due to a failed job, see its error below" || !strings.Contains(f.Full, "x") {
		t.Errorf("%+v", f)
	}
	if f := failureOf(errors.New(strings.Repeat("y", 1<<20) + "\xff")); len(f.Full) > maxFailure+3 {
		t.Errorf("%d bytes", len(f.Full))
	}
	for n, want := range map[int]int{100: 100, 101: 100, 5000: 100} {
		if got := shortened(strings.Repeat("é", n)); len([]rune(got)) != want || (n > 100) != strings.HasSuffix(got, "...") {
			t.Errorf("%d letters: %q", n, got)
		}
	}
}
