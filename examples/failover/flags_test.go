package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Flags that make no sense together are refused at once, and not after a minute in which nothing happens, or silently left out.
func TestFlagsThatDoNotGoTogether(t *testing.T) {
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"-lasting 5s -mode kill", "-lasting"}, {"-lasting 5s -kills 3", "-lasting"}, {"-lasting 5s -at rollforward", "-lasting"},
		{"-lasting 5s -for 1s", "-lasting"}, {"-lasting 5s -bare", "-lasting"}, {"-lasting 5s -nodes 6", "3 to 5 nodes"}, {"-sample 1s", "-lasting"},
		{"-nodes 1 -mode upgrade", "takes over"}, {"-nodes 1 -mode recover", "takes over"}, {"-nodes 1 -mode transfer", "takes over"}, {"-nodes 1 -mode hang", "takes over"},
		{"-nodes 2", "3 nodes"}, {"-nodes 2 -mode upgrade", "3 nodes"}, {"-nodes 2 -mode partition -netns", "3 nodes"}, {"-nodes 2 -mode mixed", "3 nodes"},
		{"-nodes 2 -mode standby", "3 nodes"}, {"-nodes 2 -grow", "3 nodes"}, {"-for 1s", "-for"}, {"-for 1s -mode disk", "-for"}, {"-stall -1s", "-stall"},
		{"-dir " + used, "not empty"}, {"-dir " + filepath.Join(used, "file"), "-dir"}, {"-mode", "needs an argument"}, {"-batch x", "invalid value"}, {"node", "unexpected"},
	} {
		var s settings
		if err := s.parse(strings.Fields(c.args)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.args, err, c.says)
		}
	}
	for _, args := range []string{"", "-nodes 1", "-nodes 1 -grow", "-nodes 1 -mode restart -tls", "-nodes 2 -mode transfer -bare", "-nodes 2 -mode recover", "-netns -grow",
		"-lasting 5s -mode mixed", "-lasting 5s -sample 1s -netns -nodes 5", "-mode pause -for 10s -at rollforward", "-mode mixed -for 1s", "-dir " + filepath.Join(used, "new")} {
		var s settings
		if err := s.parse(strings.Fields(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}
