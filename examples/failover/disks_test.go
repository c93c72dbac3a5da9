package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

// Where disks cannot go bad a mode that needs it says so, and does nothing.
func TestBadDisksNeedFUSE(t *testing.T) {
	if faultdisk.Available() == nil {
		return // TestTheAnswerIsExact spoils them
	}
	for mode := range badDisks {
		var unavailable *faultdisk.UnavailableError
		if err := demonstrate(t.Context(), []string{"-mode", mode}, new(bytes.Buffer)); !errors.As(err, &unavailable) {
			t.Errorf("%s ends with %v, want an UnavailableError", mode, err)
		}
	}
}
