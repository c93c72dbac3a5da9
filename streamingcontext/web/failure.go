package web

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leat-io/leat/scheduler"
)

// A failure is an error as a page shows it.
type failure struct {
	First string // a line
	Full  string // all of it
}

// maxFailure bounds the text of an error, on a page and in an answer.
const maxFailure = 64 << 10

// failureOf returns nil for nil.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	full := textOf(err)
	if job := new(scheduler.JobError); errors.As(err, &job) {
		return &failure{First: "Failed due to a failed job, see its error below", Full: full}
	}
	first, _, _ := strings.Cut(full, "\n")
	return &failure{First: "Failed due to error: " + first, Full: full}
}

// textOf returns the text of an error, which may be of the program's: one that panics says so, and none fills the memory.
func textOf(err error) string {
	text := fmt.Sprint(err)
	if len(text) > maxFailure {
		text = text[:maxFailure] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// shortened returns an error's text in at most 100 characters.
func shortened(text string) string {
	if r := []rune(text); len(r) > 100 {
		return string(r[:97]) + "..."
	}
	return text
}
