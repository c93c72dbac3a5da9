package main

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

// A driver whose disk hangs, does not flush or is full ends, and another goes on; mended, it stands by again.
func TestTheAnswerIsExactOnBadDisks(t *testing.T) {
	for _, mode := range slices.Sorted(maps.Keys(badDisks)) {
		t.Run(mode, func(t *testing.T) {
			if err := faultdisk.Available(); err != nil {
				var unavailable *faultdisk.UnavailableError
				if err := demonstrate(t.Context(), []string{"-mode", mode}, new(bytes.Buffer)); !errors.As(err, &unavailable) {
					t.Errorf("without FUSE it ends with %v, want an UnavailableError", err)
				}
				t.Log("not tested:", err)
				return
			}
			exact(t, 1, "-mode", mode, "-stall", "1s")
		})
	}
}
